package conformance

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel/evenkeel/pkg/conformance/fakerun"
	"github.com/evenkeel/evenkeel/pkg/run"
)

// campaignVariable turns the test binary into a program that plays a campaign in the folder
// that it names, with child processes, begun or resumed.
const campaignVariable = "EVENKEEL_FAKE_CAMPAIGN"

func fakeCampaign() {
	dir := os.Getenv(campaignVariable)
	if dir == "" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := playInProcess(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func playInProcess(ctx context.Context, dir string) error {
	o := Options{
		Dir: dir, Player: Child{Program: "/proc/self/exe"}, Clock: clock.RealClock{}, View: &heard{}, Parallel: 3,
	}
	if exists(dir) && exists(dir+"/"+PlanFile) {
		_, err := Resume(ctx, o)
		return err
	}
	plan, err := makePlan(killed)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // killed before the plan was there
		return err
	}
	_, err = Begin(ctx, plan, o)
	return err
}

func killed(r *Request) { r.Repeat, r.Tries = 3, 3 }

var killedScript = fakerun.Script{Most: 60, Runs: map[string]string{
	"restart-skew/1": fakerun.WeakOnce, "restart-skew/2": fakerun.Fail, "rolling-upgrade/2": fakerun.CrashOnce, "rolling-upgrade/3": fakerun.Weak,
}}

// A campaign that SIGKILL ends at random moments, and that is resumed each time, loses no
// finished run, counts none twice, and comes to the report of one that was not disturbed.
func TestResume_SurvivesSIGKILL(t *testing.T) {
	const kills = 20
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	program, err := run.ProgramDigest()
	if err != nil {
		t.Fatal(err)
	}
	script := killedScript
	script.Program = program
	plan := planned(t, killed)
	whole, _ := playCampaign(t, plan, fakerun.Script{Runs: script.Runs}, Options{Parallel: 2})

	dir := filepath.Join(t.TempDir(), "campaign")
	ended := 0
	for n := 0; ; n++ {
		cmd := exec.Command("/proc/self/exe", "-test.run=^$")
		cmd.Env = append(os.Environ(), campaignVariable+"="+dir, fakerun.Variable+"="+script.String())
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan error, 1)
		go func() { exited <- cmd.Wait() }()
		var after <-chan time.Time
		if n < kills {
			timer := time.NewTimer(time.Duration(random.IntN(400)) * time.Millisecond)
			defer timer.Stop()
			after = timer.C
		}
		select {
		case err := <-exited:
			if err != nil {
				t.Fatalf("%v: %s", err, said.String())
			}
		case <-after:
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-exited
			ended = neverFewer(t, dir, ended)
			continue
		}
		break
	}
	entries, _, _, err := readJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stateOf(plan, entries[0].Begun.Plan, entries)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runs were started, of which %d count", s.starts, len(s.all()))
	disturbed := load(t, dir)
	if got, want := masked(t, disturbed), masked(t, whole); got != want {
		t.Errorf("the campaign that was killed says\n%s\nand the undisturbed one\n%s", got, want)
	}
}

// neverFewer makes sure that a run that the journal has as ended stays so.
func neverFewer(t *testing.T, dir string, before int) int {
	t.Helper()
	if !exists(filepath.Join(dir, JournalFile)) {
		return before
	}
	entries, _, _, err := readJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if e.Ended != nil {
			n++
		}
	}
	if n < before {
		t.Fatalf("%d runs have ended, and %d before", n, before)
	}
	return n
}

func load(t *testing.T, dir string) *Report {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	rep := &Report{}
	if err := yaml.UnmarshalStrict(raw, rep); err != nil {
		t.Fatal(err)
	}
	return rep
}
