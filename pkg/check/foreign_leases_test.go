package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// ledBy has a Lease be held, renewed now for a minute, by a strategy.
func (t *tale) ledBy(key, holder, strategy string, revision int64) *tale {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/leases/" + key, Name: key, Revision: revision, Created: 1, Lease: &history.Lease{
		Holder: holder, Strategy: strategy, Duration: 60, Acquired: started, Renewed: started.Add(time.Duration(t.now)),
	}})
}

func (t *tale) stands(name, lease, strategy string, revision int64) *tale {
	return t.stored(history.Stored{Type: history.StoredPut, Key: "/registry/leasecandidates/" + name, Name: name, Revision: revision, Created: revision,
		Candidate: &history.Candidate{Lease: lease, Strategy: strategy, Renewed: started.Add(time.Duration(t.now)), Binary: "1.36.0", Emulation: "1.36.0"}})
}

func (t *tale) dropsLease(key string, revision int64) *tale {
	return t.stored(history.Stored{Type: history.StoredDelete, Key: "/registry/leases/" + key, Name: key, Revision: revision})
}

// A foreign program may do with its own Lease what nobody may do with a member's.
func TestForeign_LeasesAreTheirOwners(t *testing.T) {
	for id, does := range map[requirement.ID]func(t *tale, host string){
		"CLE-09": func(t *tale, host string) {
			t.stands("ns/"+host+"_1", "op", "OldestEmulationVersion", 10).ledBy("ns/op", host+"_1", "OldestEmulationVersion", 11).pass(time.Second).ledBy("ns/op", host+"_2", "OldestEmulationVersion", 12)
		},
		"CLE-19": func(t *tale, host string) {
			t.stands("ns/"+host+"_1", "op", "OldestEmulationVersion", 10).ledBy("ns/op", host+"_1", "", 11).pass(time.Second).dropsLease("ns/op", 12)
		},
		"CLE-21": func(t *tale, host string) {
			t.stands("ns/"+host+"_1", "op", "theirs.io/strategy", 10).ledBy("ns/op", "", "theirs.io/strategy", 11).pass(time.Second).ledBy("ns/op", host+"_1", "theirs.io/strategy", 12)
		},
	} {
		for host, want := range map[string]int64{"elsewhere": 0, "a": 1} {
			t.Run(fmt.Sprint(id, " of ", host), func(t *testing.T) {
				told := lone()
				does(told, host)
				r := told.pass(time.Minute).judge(t, id)[0]
				if r.ViolationCount != want {
					t.Errorf("%d breaches, want %d: %v %q", r.ViolationCount, want, r.Violations, r.Reasons)
				}
			})
		}
	}
}
