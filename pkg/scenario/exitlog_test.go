package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/credential"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/leak"
)

func TestTheLogOfAProcessThatEndedByItselfIsRecordedMasked(t *testing.T) {
	const secret = "the-very-secret-token"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cp1-apiserver.log"), []byte("began\npanic: with "+secret+"\n\ngoroutine 1:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exit := cluster.Change{Member: "cp1", Component: cluster.APIServer, What: history.ProcessExited}
	asked, noticed, started, other := exit, exit, exit, exit
	asked.Expected, noticed.Noticed, started.What, other.Member = true, true, history.ProcessStarted, "cp2"

	var e exitLogs
	if got := e.of(dir, exit); got != nil {
		t.Errorf("before the credentials are known it is %q", got)
	}
	e.masker = leak.NewMasker([]credential.Credential{credential.Token("the token", secret)})
	if got, want := e.of(dir, exit), []string{"panic: with (masked)", "goroutine 1:"}; !slices.Equal(got, want) {
		t.Errorf("it is %q, want %q", got, want)
	}
	for name, change := range map[string]cluster.Change{"asked for": asked, "noticed": noticed, "a start": started, "without a log": other} {
		if got := e.of(dir, change); got != nil {
			t.Errorf("of one that is %s it is %q", name, got)
		}
	}
	if got := e.of("", exit); got != nil {
		t.Errorf("where there are no logs it is %q", got)
	}
}

func TestARunnerRecordsTheLogWithoutItsPlace(t *testing.T) {
	h := newHistory()
	r := newRunner(newFake(), h)
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cp1-etcd.log"), []byte("cannot write "+dir+"/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.cluster = logged{newFake(), dir}
	r.exitLogs.learn(t.Context(), r.cluster)
	r.ProcessChanged(cluster.Change{Member: "cp1", Component: cluster.Etcd, What: history.ProcessExited, Exit: "exit status 1"})
	if log := h.events[0].Process.Log; !slices.Equal(log, []string{"cannot write logs/x"}) {
		t.Errorf("the log is %q", log)
	}
}

// logged is a cluster with logs.
type logged struct {
	*fakeCluster
	dir string
}

func (l logged) LogDir() string { return l.dir }
