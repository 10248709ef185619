package migration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func TestOverview(t *testing.T) {
	at := func(name string, resource string, status storagemigrationv1.StorageVersionMigrationStatus) *storagemigrationv1.StorageVersionMigration {
		m := svm(name, time.Hour)
		m.UID, m.Spec.Resource.Resource, m.Status = types.UID(name), resource, status
		return m
	}
	blank := svm("x", time.Hour)
	failed := Ended(blank, storagemigrationv1.MigrationFailed, ReasonObjectsRefused, "no", start)
	succeeded := Ended(blank, storagemigrationv1.MigrationSucceeded, ReasonSucceeded, "yes", start.Add(time.Minute))
	settled := State{Agreed: "g/v2", Persisted: []string{"g/v2"}, Generation: 3, CompletedGeneration: 3}
	unsettled := State{Agreed: "g/v2", Persisted: []string{"g/v1", "g/v2"}}
	states := map[string]State{"g.calm": settled, "g.due": unsettled, "g.run": unsettled, "g.fail": unsettled, "g.again": unsettled, "g.healed": settled}
	svms := []*storagemigrationv1.StorageVersionMigration{
		at("r", "run", Running(blank, "5", "m", start)),
		at("f", "fail", failed), at("a1", "again", failed), at("a2", "again", succeeded), at("h", "healed", failed),
		at("w", "wait", storagemigrationv1.StorageVersionMigrationStatus{}),
		at("gone", "gone", succeeded),
	}
	checkpoints := map[types.UID]Checkpoint{"r": {Pass: 1, Done: Tally{Written: 5}, Remaining: ptr.To[int64](15)}}
	var got []string
	rows := Overview(states, svms, checkpoints)
	for _, row := range rows {
		got = append(got, fmt.Sprintf("%s %s %s %d/%d", row.Resource.Resource, row.Phase, row.Migration, row.Done, row.Total))
	}
	want := []string{
		// Succeeded once, and something else was announced since.
		"again due a2 0/0",
		"calm done  0/0", "due due  0/0", "fail failed f 0/0", "gone done gone 0/0", "healed done h 0/0", "run running r 5/20", "wait waiting w 0/0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if Complete(rows) || !Complete(Overview(map[string]State{"g.calm": settled}, nil, nil)) {
		t.Error("complete is not what it should be")
	}
	if !UnderWay(rows) || UnderWay(rows[:6]) {
		t.Error("under way is not what it should be")
	}
	for _, row := range rows {
		if row.Detail == "" {
			t.Errorf("%s is not explained", row.Resource)
		}
	}
}

func TestRecords(t *testing.T) {
	state := State{Generation: 4, Reason: "r", ObservedGeneration: 3, CompletedGeneration: 2, Persisted: []string{"a", "b"},
		UID: "u", ResourceVersion: "7", Agreed: "a", Transition: metav1.NewTime(start).Rfc3339Copy()}.Stopped(start)
	read, err := DecodeState(state.Encode())
	if err != nil || read.Encode() != state.Encode() {
		t.Errorf("read back as %+v, %v", read, err)
	}
	if _, err := DecodeState("half a st"); err == nil {
		t.Error("garbage is accepted")
	}
	merged := State{Generation: 1, ObservedGeneration: 5, Persisted: []string{"c"}}.Merge(state)
	if merged.Generation != 4 || merged.ObservedGeneration != 5 || merged.CompletedGeneration != 2 || !slices.Equal(merged.Persisted, []string{"a", "b", "c"}) {
		t.Errorf("merged to %+v", merged)
	}
}
