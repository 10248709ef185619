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
	// known are the logs that were found, by their names.
	known map[string]os.FileInfo
	locks map[cluster.Component]*sync.Mutex
}

func newLogKeeper(from, to string, config Config) *logKeeper {
	k := &logKeeper{from: from, to: to, config: config, known: map[string]os.FileInfo{}, locks: map[cluster.Component]*sync.Mutex{}}
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
			k.begin(ctx, path, component.Name)
		}
	}
}

// begin begins to copy a log unless it is being copied already. A name alone says
// nothing: when a log has grown too long, a new one takes its place.
func (k *logKeeper) begin(ctx context.Context, path string, component cluster.Component) {
	info, err := os.Stat(path)
	if err != nil || os.SameFile(info, k.known[path]) {
		return // gone already, or known
	}
	file, err := os.Open(path)
	if err != nil {
		return
	}
	// Between looking and opening another one may have come.
	if k.known[path], err = file.Stat(); err != nil {
		file.Close()
		return
	}
	k.copying.Go(func() {
		defer file.Close()
		k.follow(ctx, file, component)
	})
}

// follow copies the file until another one is in its place, or none, and all of
// it was read. Whoever writes it may go on for a moment after it was moved away,
// and after the agent was told to end, so it is looked at once more then.
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
	for last := false; ; {
		// That it was moved is looked at before it is read: what was written
		// before is then read in any case.
		moved := displaced(file)
		raw, err := io.ReadAll(file)
		rest = k.write(into, component, rest+string(raw))
		if last || err != nil {
			if rest != "" {
				// A process that is killed may leave half a line.
				k.write(into, component, rest+"\n")
			}
			return
		}
		last = moved
		select {
		case <-ticker.C:
		case <-ctx.Done():
			last = true
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

// displaced is whether the file is no longer what is found under its name: the
// kubelet removes a log with its Pod, and moves one away that has grown too
// long.
func displaced(file *os.File) bool {
	there, err := os.Stat(file.Name())
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	here, err := file.Stat()
	return err == nil && !os.SameFile(here, there)
}
