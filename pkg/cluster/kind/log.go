//go:build linux

package kind

import (
	"fmt"
	"strings"
	"sync"

	"sigs.k8s.io/kind/pkg/log"
)

// collector is a logger for kind's library that keeps what went wrong: it is
// shown in an error, and private otherwise.
type collector struct {
	mu    sync.Mutex
	lines []string
}

var _ log.Logger = (*collector)(nil)

func (c *collector) add(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, strings.TrimSpace(text))
}

// Warn implements log.Logger.
func (c *collector) Warn(string) {}

// Warnf implements log.Logger.
func (c *collector) Warnf(string, ...any) {}

// Error implements log.Logger.
func (c *collector) Error(message string) { c.add(message) }

// Errorf implements log.Logger.
func (c *collector) Errorf(format string, arguments ...any) { c.add(fmt.Sprintf(format, arguments...)) }

// V implements log.Logger.
func (c *collector) V(log.Level) log.InfoLogger { return log.NoopInfoLogger{} }
