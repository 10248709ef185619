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
	from string
	// node is the name of the node, which ends the names of its static Pods, or a pattern.
	node   string
	config Config

	copying sync.WaitGroup
	// known are the logs that were found, by their names.
	known map[string]os.FileInfo
	kept  map[cluster.Component]*keptLog
}

// keptLog takes all of a component's logs.
type keptLog struct {
	mu sync.Mutex
	// before is the time of the last line that was taken earlier, and last that of the last
	// one.
	before, last time.Time
	// take takes whole lines, the last of which was written at a time, if that is known.
	take func(text string, last time.Time)
}

// logFile is the file that has all of a component's logs. Its time of change is
// made that of its last line: when the node has its power back the kubelet still
// has the logs of before, and so it can be told what of them is there already.
type logFile string

func newLogKeeper(from, to string, config Config) *logKeeper {
	k := &logKeeper{from: from, node: "*", config: config, known: map[string]os.FileInfo{}, kept: map[cluster.Component]*keptLog{}}
	for _, component := range config.Components {
		path := logFile(filepath.Join(to, fmt.Sprintf("%s-%s.log", config.Member, component.Name)))
		one := &keptLog{take: path.append}
		if info, err := os.Stat(string(path)); err == nil {
			one.before = info.ModTime()
		}
		k.kept[component.Name] = one
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
		found, err := filepath.Glob(filepath.Join(k.from, "*_"+component.Pod+"-"+k.node+"_*", component.Pod, "*.log"))
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
		_ = file.Close() // it was only read
		return
	}
	k.copying.Go(func() {
		defer file.Close()
		k.follow(ctx, file, component)
	})
}

// follow copies the file until another one is in its place, or none, and all of
// it was read. Its writer may go on for a moment after it was moved away,
// and after the agent was told to end, so it is looked at once more then.
func (k *logKeeper) follow(ctx context.Context, file *os.File, component cluster.Component) {
	kept := k.kept[component]
	ticker := time.NewTicker(logReadInterval)
	defer ticker.Stop()
	rest := ""
	for last := false; ; {
		// That it was moved is looked at before it is read: what was written
		// before is then read in any case.
		moved := displaced(file)
		raw, err := io.ReadAll(file)
		rest = kept.write(rest + string(raw))
		if last || err != nil {
			if rest != "" {
				// A process that is killed may leave half a line.
				kept.write(rest + "\n")
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
func (l *keptLog) write(text string) (rest string) {
	end := strings.LastIndexByte(text, '\n')
	if end < 0 {
		return text
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var plain strings.Builder
	for line := range strings.Lines(text[:end+1]) {
		when, framed := timeOf(line)
		if framed && !when.After(l.before) {
			continue
		}
		if when.After(l.last) {
			l.last = when
		}
		plain.WriteString(unframed(line))
	}
	if plain.Len() > 0 {
		l.take(plain.String(), l.last)
	}
	return text[end+1:]
}

// append writes to the file. What cannot be written is lost: a log is no reason
// for a member to fail.
func (f logFile) append(text string, last time.Time) {
	into, err := os.OpenFile(string(f), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer into.Close()
	_, _ = io.WriteString(into, text)
	if !last.IsZero() {
		_ = os.Chtimes(string(f), time.Time{}, last)
	}
}

// timeOf is when a line was written, if the container runtime says so.
func timeOf(line string) (when time.Time, framed bool) {
	first, _, _ := strings.Cut(line, " ")
	when, err := time.Parse(time.RFC3339Nano, first)
	return when, err == nil
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
