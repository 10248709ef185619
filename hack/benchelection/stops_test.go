package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestStopColumn_SettingsFollowFromItsName(t *testing.T) {
	t.Chdir("../..")
	for name, want := range map[string]struct {
		release               string
		released, coordinated bool
	}{
		"v1.36.3":                     {"v1.36.3", false, false},
		"v1.37.1+release":             {"v1.37.1", true, false},
		"v1.37.1+coordinated":         {"v1.37.1", false, true},
		"v1.37.1+release+coordinated": {"v1.37.1", true, true},
	} {
		c, err := stopColumn(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		value := cluster.SwitchOff
		if want.released {
			value = cluster.SwitchOn
		}
		settings := c.Topology.Spec.Settings
		if settings.LeaderElectReleaseOnExit != value || c.releases() != want.released || c.coordinated != want.coordinated || (len(c.Off) == 0) != want.coordinated ||
			c.Topology.Spec.Release != want.release {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if _, err := stopColumn(t.Context(), "v1.36.3+fast"); err == nil || !strings.Contains(err.Error(), `says "+fast"`) {
		t.Errorf("error %v", err)
	}
}

// The order of etcd tells whether the former leader acted after the next one, and watches when.
func TestActs(t *testing.T) {
	last, first := &action{at: at(5), revision: 10}, &action{at: at(6.5), revision: 12}
	var one stop
	one.Idle = never
	one.acts(last, first)
	if one.Idle != 1.5 || one.Overlap != 0 {
		t.Errorf("%+v", one)
	}
	one.acts(&action{at: at(7), revision: 13}, first)
	if one.Idle != 0 || one.Overlap != 0.5 {
		t.Errorf("%+v", one)
	}
	one = stop{Idle: never}
	if one.acts(last, nil); !math.IsInf(one.Idle, 1) {
		t.Errorf("%+v", one)
	}
}

func TestTaleLeft_IsWhenTheHolderHadTheLeaseNoMore(t *testing.T) {
	tale := &tale{}
	tale.take(moment{at(1), "a", at(1), 15 * time.Second})
	if !tale.left("a").IsZero() {
		t.Error("who has the Lease has left it")
	}
	tale.take(moment{at: at(3)})
	tale.take(moment{at(4), "b", at(4), 15 * time.Second})
	tale.take(moment{at(6), "a", at(6), 15 * time.Second})
	if left := tale.left("a"); !left.Equal(at(3)) {
		t.Errorf("a left at %s", left)
	}
	if left := tale.left("b"); !left.Equal(at(6)) {
		t.Errorf("b left at %s", left)
	}
}

func TestTakeAuthority_NamesTheHostThatWrote(t *testing.T) {
	l := newObserver(false)
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: probedNamespace(3), Name: authority, ResourceVersion: "7",
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: history.ProgramOn("kube-controller-manager", "cp2")}}}}
	l.takeAuthority(object, at(1))
	l.takeAuthority(object, at(2)) // the watch through another API server
	if len(l.actions) != 1 || l.actions[0] != (action{at(1), 7, managerLease, "cp2"}) {
		t.Errorf("%+v", l.actions)
	}
}

func TestStopRecord_KeepsWhatWasMeasuredOfOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stops.yaml")
	record, err := loadStops(file)
	if err != nil {
		t.Fatal(err)
	}
	row := stopRow{Name: "a", Title: "A", Lease: 15 * time.Second}
	for i := range 10 {
		row.Stops = append(row.Stops, stop{Exit: 0.1, Leaderless: float64(i), Idle: float64(i)})
	}
	record.replace(row)
	released := stopRow{Name: "a+release", Title: "A", Releases: true}
	for range 10 {
		released.Stops = append(released.Stops, stop{Leaderless: 1, Idle: never, Beside: 0.25, Overlap: 0.5})
	}
	record.replace(released)
	record.replace(row)
	if err := record.save(file); err != nil {
		t.Fatal(err)
	}
	if record, err = loadStops(file); err != nil || len(record.Columns) != 2 {
		t.Fatalf("%+v, %v", record, err)
	}
	text := record.markdown()
	for _, want := range []string{
		"| A | kept | 10 | 0.10 s (0.10 s to 0.10 s) | 4.00 s (1.00 s to 8.00 s) | 9.00 s | 4.00 s (1.00 s to 8.00 s) | 9.00 s | 0 (0 % to 28 %) | 0.00 s | 0 (0 % to 28 %) | 0.00 s |\n",
		"| A | released | 10 | 0.00 s (0.00 s to 0.00 s) | 1.00 s (1.00 s to 1.00 s) | 1.00 s | ∞ s (∞ s to ∞ s) | ∞ s | 10 (72 % to 100 %) | 0.25 s | 10 (72 % to 100 %) | 0.50 s |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %s\n%s", want, text)
		}
	}
}
