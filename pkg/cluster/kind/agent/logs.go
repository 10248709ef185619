//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// podLogs is where the kubelet has the logs of all containers.
const podLogs = "/var/log/pods"

// logKeeper copies what the components' containers say into one file for each
// component, as long as the kubelet keeps it or longer.
type logKeeper struct {
	from, to string
	config   Config

	copying sync.WaitGroup
	known   map[string]bool
	locks   map[cluster.Component]*sync.Mutex
}

func newLogKeeper(from, to string, config Config) *logKeeper {
	k := &logKeeper{from: from, to: to, config: config, known: map[string]bool{}, locks: map[cluster.Component]*sync.Mutex{}}
	for _, component := range config.Components {
		k.locks[component.Name] = &sync.Mutex{}
	}
	return k
}

func (k *logKeeper) run(ctx context.Context) {
	defer k.copying.Wait()
	ticker := time.NewTicker(logScanInterval)
	defer ticker.Stop()
	for {
		k.scan(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// scan looks for logs of containers that it does not copy yet. The kubelet
// names them <namespace>_<pod>-<node>_<uid>/<container>/<restarts>.log.
func (k *logKeeper) scan(ctx context.Context) {
	for _, component := range k.config.Components {
		found, err := filepath.Glob(filepath.Join(k.from, "*_"+component.Pod+"-*_*", component.Pod, "*.log"))
		if err != nil {
			continue
		}
		for _, path := range found {
			if k.known[path] {
				continue
			}
			file, err := os.Open(path)
			if err != nil {
				continue // gone already, or not there yet
			}
			k.known[path] = true
			k.copying.Go(func() {
				defer file.Close()
				k.follow(ctx, file, component.Name)
			})
		}
	}
}

// follow copies the file until it is removed and read to its end.
func (k *logKeeper) follow(ctx context.Context, file *os.File, component cluster.Component) {
	into, err := os.OpenFile(filepath.Join(k.to, fmt.Sprintf("%s-%s.log", k.config.Member, component)),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer into.Close()
	ticker := time.NewTicker(logReadInterval)
	defer ticker.Stop()
	rest := ""
	for {
		// Whether it is removed is looked at before it is read: what was written
		// before the removal is then read in any case.
		removed := unlinked(file)
		raw, err := io.ReadAll(file)
		rest = k.write(into, component, rest+string(raw))
		if removed || err != nil && !errors.Is(err, io.EOF) {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// write appends whole lines, without what the container runtime puts before
// each, and gives what is left: several containers of one component write to
// one file when one is just ending and the next one starting.
func (k *logKeeper) write(into io.Writer, component cluster.Component, text string) (rest string) {
	end := strings.LastIndexByte(text, '\n')
	if end < 0 {
		return text
	}
	var plain strings.Builder
	for line := range strings.Lines(text[:end+1]) {
		plain.WriteString(unframed(line))
	}
	k.locks[component].Lock()
	defer k.locks[component].Unlock()
	_, _ = io.WriteString(into, plain.String())
	return text[end+1:]
}

// unframed takes away what the container runtime interface puts before each
// line: a time, the stream, and F for a full line or P for a part of one.
func unframed(line string) string {
	fields := strings.SplitN(line, " ", 4)
	if len(fields) < 4 || fields[1] != "stdout" && fields[1] != "stderr" {
		return line
	}
	if fields[2] == "P" {
		return strings.TrimSuffix(fields[3], "\n")
	}
	return fields[3]
}

func unlinked(file *os.File) bool {
	_, err := os.Stat(file.Name())
	return errors.Is(err, os.ErrNotExist)
}
