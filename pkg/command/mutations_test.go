package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/bundle"
	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/exit"
)

const (
	// mutants is how many mutated bundles are tried where mutantsVariable names no other
	// number; `make mutate-bundles` does. mutantSeedVariable names the seed, which is
	// else another one each time.
	mutants            = 300
	mutantsVariable    = "EVENKEEL_MUTANTS"
	mutantSeedVariable = "EVENKEEL_MUTANTS_SEED"
	// largeEvery is how many small bundles there are to one that is published.
	largeEvery = 50
	// commandTime is when a command is interrupted, and hangTime how long it may take
	// after that.
	commandTime = 30 * time.Second
	hangTime    = 30 * time.Second
	// mostMemory is what the test may take of the system's memory, all workers together.
	mostMemory = 4 << 30
)

// No command that reads a bundle panics, hangs or ends with another status than those that
// there are, whatever is in the bundle; and no change makes a requirement pass that did not
// pass before. A history whose times are not in order passes nothing.
func TestMutatedBundles(t *testing.T) {
	n, seed := number(t, mutantsVariable, mutants), number(t, mutantSeedVariable, uint64(time.Now().UnixNano()))
	t.Logf("%d bundles of seed %d; %s=%d repeats it", n, seed, mutantSeedVariable, seed)
	key := filepath.Join(t.TempDir(), "key")
	if code, _, stderr := execute("keygen", key); code != exit.Pass {
		t.Fatal(stderr)
	}
	var small []original
	for _, name := range []string{"pass", "fail"} {
		small = append(small, prepare(t, drawn(t, name), name == "pass"))
	}
	large := prepare(t, unpacked(t, filepath.Join("..", "..", "reports", "kubernetes", "local-v1.35.4-hopeless-migrations")), false)
	bombed := bomb(t)

	counts := tally{}
	var group sync.WaitGroup
	next := make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := range next {
				random := rand.New(rand.NewPCG(seed, i))
				of := small[random.IntN(len(small))]
				if i%largeEvery == largeEvery-1 {
					of = large
				}
				dir := filepath.Join(t.TempDir(), "bundle")
				m := (&mutator{random: random, free: of.free, bomb: bombed}).mutate(t, of.dir, dir)
				try(t, &counts, i, of, m, key)
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range n {
		if t.Failed() {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	t.Log(counts.String())
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("%d MB were taken from the system", memory.Sys>>20)
	if memory.Sys > mostMemory {
		t.Errorf("%d bytes were taken from the system", memory.Sys)
	}
	for _, what := range []string{"resealed", "disordered", "verify 0", "verify 1", "verify 3", "judge 2", "judge 3"} {
		if counts.counts[what] == 0 {
			t.Errorf("no bundle was %s, so that the test says little", what)
		}
	}
}

// original is a bundle that is changed.
type original struct {
	dir      string
	verdicts map[string]check.Verdict
	// free is whether its verdicts cannot become better.
	free bool
}

func prepare(t *testing.T, dir string, free bool) original {
	t.Helper()
	out := original{dir, map[string]check.Verdict{}, free}
	_, stdout, stderr := execute("judge", "-o", "yaml", dir)
	if out.verdicts = verdictsOf(t, stdout); len(out.verdicts) == 0 {
		t.Fatalf("%s has no verdicts: %s", dir, stderr)
	}
	return out
}

// drawn is a small bundle with all that a run leaves.
func drawn(t *testing.T, name string) string {
	t.Helper()
	dir := published(t, name)
	for _, file := range []string{bundle.JUnitFile, bundle.MetricsFile, bundle.TimelineFile} {
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := bundle.Seal(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := execute("judge", "--update", dir); code > exit.Fail {
		t.Fatal(stderr)
	}
	return dir
}

// unpacked is a published bundle whose history is plain text, so that its lines can be
// changed.
func unpacked(t *testing.T, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(from))
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, bundle.HistoryFile)
	zipped, err := os.Open(plain + bundle.Compressed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = zipped.Close() }()
	in, err := gzip.NewReader(zipped)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(in)
	if err == nil {
		err = os.WriteFile(plain, raw, 0o600)
	}
	if err == nil {
		err = os.Remove(plain + bundle.Compressed)
	}
	if err == nil {
		err = bundle.Seal(t.Context(), dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// try gives a mutant to all commands.
func try(t *testing.T, counts *tally, i uint64, of original, m mutant, key string) {
	t.Helper()
	told := fmt.Sprintf("bundle %d of %s (%s resealed %v)", i, filepath.Base(of.dir), m.what, m.resealed)
	counts.add("disordered", m.disordered)
	counts.add("resealed", m.resealed)
	beside := t.TempDir()
	for _, args := range [][]string{
		{"judge", "-o", "yaml", m.dir},
		{"verify", m.dir},
		{"timeline", m.dir, "--out", filepath.Join(beside, "page")},
		{"diff", of.dir, m.dir},
		{"summary", m.dir},
		{"metrics", m.dir, "--out", filepath.Join(beside, "metrics")},
		{"sign", m.dir, "--key", key},
		{"timeline", m.dir},
		{"judge", "--update", m.dir},
	} {
		code, stdout, problem := guarded(t.Context(), args)
		if problem != "" || code < exit.Pass || code > exit.CouldNotRun {
			t.Errorf("%s: %s ends with %d: %s", told, args[0], code, problem)
			return
		}
		counts.add(fmt.Sprintf("%s %d", args[0], code), true)
		if args[0] != "judge" || args[1] != "-o" {
			continue
		}
		for id, verdict := range verdictsOf(t, stdout) {
			if verdict == check.Pass && of.verdicts[id] != check.Pass {
				t.Errorf("%s: %s passes, and it was %q", told, id, of.verdicts[id])
			}
			if verdict == check.Pass && m.disordered {
				t.Errorf("%s: %s passes, and the times are not in order", told, id)
			}
		}
	}
}

// guarded runs a command until it is interrupted, and says in words whether it panicked or
// did not end.
func guarded(ctx context.Context, args []string) (code int, stdout, problem string) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	type ended struct {
		code            int
		stdout, problem string
	}
	done := make(chan ended, 1)
	go func() {
		var out, told bytes.Buffer
		defer func() {
			if p := recover(); p != nil {
				done <- ended{-1, "", fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
			}
		}()
		root := newRoot(&out, &told)
		root.SetArgs(args)
		err := root.ExecuteContext(ctx)
		done <- ended{exit.Code(err), out.String(), ""}
	}()
	hung := time.NewTimer(commandTime + hangTime)
	defer hung.Stop()
	select {
	case e := <-done:
		return e.code, e.stdout, e.problem
	case <-hung.C:
		return -1, "", "it hangs"
	}
}

// verdictsOf a report, by requirement; empty if it is none.
func verdictsOf(t *testing.T, report string) map[string]check.Verdict {
	t.Helper()
	var parsed struct {
		Results []struct {
			ID      string        `json:"id"`
			Verdict check.Verdict `json:"verdict"`
		} `json:"results"`
	}
	if err := yaml.Unmarshal([]byte(report), &parsed); err != nil {
		t.Errorf("the report cannot be read: %v", err)
	}
	out := map[string]check.Verdict{}
	for _, r := range parsed.Results {
		out[r.ID] = r.Verdict
	}
	return out
}

// tally counts what came of the mutants.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *tally) add(what string, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	if is {
		c.counts[what]++
	}
}

// String lists the counts in order.
func (c *tally) String() string {
	var out string
	for _, what := range slices.Sorted(maps.Keys(c.counts)) {
		out += fmt.Sprintf("%s: %d, ", what, c.counts[what])
	}
	return out
}

func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	set := os.Getenv(variable)
	if set == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(set, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
