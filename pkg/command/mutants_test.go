package command

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/regular"
)

// mutant is a bundle that was changed.
type mutant struct {
	dir string
	// what was changed, in words.
	what string
	// disordered is whether times of its history are out of range or not in order.
	disordered bool
	// resealed is whether its digests were made anew.
	resealed bool
}

// mutator makes mutants of one bundle; the same random numbers give the same ones.
type mutator struct {
	random *rand.Rand
	// free is whether values may be replaced by others of the same type. They may be those
	// of another run then, so that a verdict may become better.
	free bool
	// bomb is a history of 10^8 empty lines, compressed.
	bomb []byte
}

// largest is how many bytes a file has at most whose content is changed, and not replaced.
const largest = 16 << 20

// mutate copies the bundle to dir and changes it.
func (m *mutator) mutate(t *testing.T, original, dir string) mutant {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	out := mutant{dir: dir}
	for range 1 + m.random.IntN(2) {
		what, disordered := "", false
		if m.random.IntN(4) > 0 {
			what, disordered = m.history(t, dir)
		} else {
			what = m.file(t, dir)
		}
		out.what += what + "; "
		out.disordered = out.disordered || disordered
	}
	if before := content(t, filepath.Join(original, bundle.HistoryFile)); before != nil && bytes.Equal(before, content(t, filepath.Join(dir, bundle.HistoryFile))) {
		out.disordered = false // the second change took the first one back
	}
	if out.resealed = m.random.IntN(2) == 0; out.resealed {
		reseal(t, dir)
	}
	return out
}

// reseal makes the digests of all that has some anew, as a user who changes a bundle does.
func reseal(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, bundle.DigestFile)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return // it was changed itself
	}
	var sums strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == bundle.DigestFile || d.Name() == bundle.SignatureFile {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		sum, err := bundle.DigestOf(t.Context(), dir, name)
		if err == nil {
			fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		}
		return nil // what is too large gets none
	})
	if err == nil {
		err = os.WriteFile(path, []byte(sums.String()), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var (
	timePattern = regexp.MustCompile(`"at":-?[0-9]+`)
	seqPattern  = regexp.MustCompile(`"seq":[0-9]+`)
)

// content of a file; nil if it is no regular one, or too large.
func content(t *testing.T, path string) []byte {
	t.Helper()
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > largest {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// history changes lines of the history, if it is still one.
func (m *mutator) history(t *testing.T, dir string) (what string, disordered bool) {
	t.Helper()
	path := filepath.Join(dir, bundle.HistoryFile)
	raw := content(t, path)
	if raw == nil {
		return "nothing", false
	}
	lines := bytes.SplitAfter(raw, []byte("\n"))
	lines = lines[:len(lines)-1]
	if len(lines) < 4 {
		return "nothing", false
	}
	i := 1 + m.random.IntN(len(lines)-2)
	at := func(i int) int64 {
		n, _ := strconv.ParseInt(strings.TrimPrefix(string(timePattern.Find(lines[i])), `"at":`), 10, 64)
		return n
	}
	switch m.random.IntN(14) {
	case 0:
		what, disordered = "swap", at(i) != at(i+1)
		lines[i], lines[i+1] = lines[i+1], lines[i]
	case 1:
		// The numbers are right, and the times are not.
		what, disordered = "swap and renumber", at(i) != at(i+1)
		first, second := seqPattern.Find(lines[i]), seqPattern.Find(lines[i+1])
		lines[i], lines[i+1] = bytes.Replace(lines[i+1], second, first, 1), bytes.Replace(lines[i], first, second, 1)
	case 2:
		what = "cut lines"
		lines = slices.Delete(lines, i, min(len(lines), i+1+m.random.IntN(3)))
	case 3:
		what = "cut in a line"
		lines = append(lines[:i], lines[i][:m.random.IntN(len(lines[i]))])
	case 4:
		what = "repeat"
		lines = slices.Insert(lines, 1+m.random.IntN(len(lines)-1), lines[i])
	case 5, 6, 7:
		by := m.pick("-1", "null", `"5"`, "900000000000000", "1e9", "", strconv.FormatInt(at(i-1)-1, 10), strconv.FormatInt(at(i+1)+1, 10))
		what, disordered = "retime to "+by, i > 1
		if by != "" {
			by = `"at":` + by
		} else {
			by = `"more":1`
		}
		lines[i] = timePattern.ReplaceAllLiteral(lines[i], []byte(by))
	case 8:
		kind := m.pick("step", "process", "request", "stored", "recorderMissed", "end", "leap")
		what = "retype to " + kind
		lines[i] = regexp.MustCompile(`"kind":"[a-zA-Z]+"`).ReplaceAllLiteral(lines[i], []byte(`"kind":"`+kind+`"`))
	case 9, 10:
		if m.random.IntN(4) == 0 {
			i = 0
		}
		lines[i], what = m.retype(lines[i])
	case 11:
		what = "bytes that are not UTF-8"
		j := m.random.IntN(len(lines[i]) - 1)
		lines[i] = slices.Concat(lines[i][:j], []byte{0xff, 0xc0}, lines[i][j:])
	case 12:
		what = "a nested line"
		lines = slices.Insert(lines, i, []byte(strings.Repeat("[", 100_000)+"\n"))
	default:
		what = "another byte"
		if !m.free {
			return "nothing", false
		}
		line := slices.Clone(lines[i])
		line[m.random.IntN(len(line))] = m.byte()
		lines[i] = line
	}
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("line %d: %s", i+1, what), disordered
}

func (m *mutator) pick(from ...string) string { return from[m.random.IntN(len(from))] }

// retype gives one value of a line another type.
func (m *mutator) retype(line []byte) (changed []byte, what string) {
	var value any
	if json.Unmarshal(line, &value) != nil {
		return line, "nothing"
	}
	var leaves []func(any)
	var names []string
	var now []any
	var visit func(path string, v any)
	visit = func(path string, v any) {
		if v, ok := v.(map[string]any); ok {
			keys := make([]string, 0, len(v))
			for key := range v {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			for _, key := range keys {
				leaves, names, now = append(leaves, func(to any) { v[key] = to }), append(names, path+"."+key), append(now, v[key])
				visit(path+"."+key, v[key])
			}
		}
	}
	visit("", value)
	if len(leaves) == 0 {
		return line, "nothing"
	}
	i := m.random.IntN(len(leaves))
	others := []any{true, "text", float64(7)}
	switch now[i].(type) {
	case string:
		others = []any{true, float64(7), nil, []any{}}
	case float64:
		others = []any{true, "text", nil, []any{}, float64(1) / 3}
	case bool:
		others = []any{"text", float64(7), nil}
	}
	if m.free {
		others = append(others, map[string]any{}, float64(-5), float64(9e15), float64(9e300), strings.Repeat("long", 1000), "\x00\ufffd", nil)
	}
	by := others[m.random.IntN(len(others))]
	leaves[i](by)
	out, err := json.Marshal(value)
	if err != nil {
		return line, "nothing"
	}
	return append(out, '\n'), fmt.Sprintf("%s becomes %.20v", names[i], by)
}

// file replaces a file of the bundle, or puts one beside them.
func (m *mutator) file(t *testing.T, dir string) (what string) {
	t.Helper()
	name := m.pick(bundle.HistoryFile, bundle.HistoryFile, bundle.ReportFile, bundle.JUnitFile, bundle.TimelineFile, bundle.MetricsFile, bundle.ScenarioFile,
		bundle.TopologyFile, bundle.EnvironmentFile, bundle.DigestFile, bundle.SignatureFile, bundle.LogDir, "more")
	path := filepath.Join(dir, name)
	// It may have been replaced by a device or a sparse file just before.
	before, err := regular.ReadFile(path, largest)
	if err != nil {
		before = []byte("more: 1\n")
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	by := m.pick("pipe", "socket", "link out", "link in", "link to itself", "folder", "sparse", "bomb", "nothing", "empty", "aliases", "nested", "cut", "bytes", "envelope")
	placed, err := m.place(by, name, path)
	if !placed {
		err = m.write(by, name, path, before)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name + ": " + by
}

// place puts what is no regular file at a path, if it is told to.
func (m *mutator) place(by, name, path string) (placed bool, err error) {
	switch by {
	case "pipe":
		return true, syscall.Mkfifo(path, 0o600)
	case "socket":
		return true, syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0)
	case "link out":
		return true, os.Symlink("/dev/zero", path)
	case "link in":
		return true, os.Symlink(bundle.ScenarioFile, path)
	case "link to itself":
		return true, os.Symlink(name, path)
	case "folder":
		return true, os.Mkdir(path, 0o700)
	}
	return false, nil
}

// write puts a regular file at a path. before is what the file had in it.
func (m *mutator) write(by, name, path string, before []byte) error {
	switch by {
	case "sparse":
		if err := os.WriteFile(path, before, 0o600); err != nil {
			return err
		}
		// Larger than a file may be, or just larger than what is read into memory.
		return os.Truncate(path, []int64{10 << 30, bundle.MaxText + 1}[m.random.IntN(2)])
	case "bomb":
		return os.WriteFile(path, m.bomb, 0o600)
	case "empty":
		return os.WriteFile(path, nil, 0o600)
	case "aliases":
		text := "a: &a [x,x,x,x,x,x,x,x,x]\n"
		for c := 'b'; c < 'l'; c++ {
			text += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
		}
		return os.WriteFile(path, []byte(text), 0o600)
	case "nested":
		return os.WriteFile(path, []byte(strings.Repeat(m.pick("[", "{a: ", "- "), 50_000)), 0o600)
	case "cut":
		return os.WriteFile(path, before[:m.random.IntN(len(before)+1)], 0o600)
	case "bytes":
		for range 1 + m.random.IntN(5) {
			if len(before) > 0 {
				before[m.random.IntN(len(before))] = m.byte()
			}
		}
		if name == bundle.HistoryFile && !m.free {
			before = before[:len(before)/2]
		}
		return os.WriteFile(path, before, 0o600)
	case "envelope":
		return os.WriteFile(path, []byte(m.pick("{}", `{"signatures":[]}`, `{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{}]}`, "null", "[]")), 0o600)
	}
	return nil // "nothing": the file is gone
}

// byte is any byte.
func (m *mutator) byte() byte {
	return byte(m.random.IntN(256)) //nolint:gosec // G115: it is less than 256.
}

// bomb is a history of 10^8 empty lines, compressed: some 100 kB that become 100 MB.
func bomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(zipped, `{"format":"evenkeel-history","version":2,"run":"r","members":[{"name":"cp1"}]}`+"\n")
	chunk := bytes.Repeat([]byte("\n"), 1_000_000)
	for range 100 {
		if err == nil {
			_, err = zipped.Write(chunk)
		}
	}
	if err == nil {
		err = zipped.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
