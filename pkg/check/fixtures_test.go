package check

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	discovery "github.com/evenkeel/evenkeel/pkg/law/discovery/stories"
	election "github.com/evenkeel/evenkeel/pkg/law/election/stories"
	everyrun "github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	migration "github.com/evenkeel/evenkeel/pkg/law/migration/stories"
	storageversion "github.com/evenkeel/evenkeel/pkg/law/storageversion/stories"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// wanted is what must be said of the histories that do not pass.
var wanted = map[requirement.ID]struct{ fail, inconclusive string }{
	"SV-01": {"cp2 was ready at revision", "saw 2 different members among those servers, and needs at least 3"},
	"SV-02": {`StorageVersion "secrets" is not the <group>.<resource> of anything`, "saw 0 names of resources of the core group, and needs at least 1"},
	"SV-03": {"core.namespaces has more than one entry of apiserver-cp1", "saw 0 StorageVersions compared with the participants at the end of a hold, and needs at least 10"},
	"SV-04": {"cp1 took a status of core.configmaps whose encoding version cannot be decoded", "saw 0 statuses with an undecodable version refused, and needs at least 1"},
	"SV-05": {"in reference.evenkeel.dev.ballasts, apiserver-cp1 calls", "saw 0 entries compared with their server's discovery, and needs at least 5"},
	"SV-06": {"the agreed version is none and the condition True", "saw 0 revisions with entries that differ, and needs at least 1"},
	"SV-07": {"in core.secrets the transition time moved", "saw 0 revisions that took the agreed version away, at another time than the change before, and needs at least 1"},
	"SV-08": {"core.secrets called v1 agreed 15s after cp3 had joined, which had not reported in it", "saw 0 StorageVersions in which a server that had joined did not report for long, and all others agreed, and needs at least 5"},
	"SV-09": {"brought the entry of apiserver-cp3 and lost that of apiserver-cp2", "saw 0 entries that a server wrote to an object while another one was starting to do so, and needs at least 5"},
	"SV-10": {"cp2 was ready at revision", "saw 0 registrations while StorageVersions were edited more often than once a second, of the member with the fewest, and needs at least 1"},
	"SV-11": {"got an entry of apiserver-cp3 at revision", "saw 2 entries that appeared, and needs at least 3"},
	"SV-12": {"cp1 accepted a write at revision", "saw 0 guarded writes refused by a server that had not registered, and needs at least 5"},
	"SV-13": {`cp1 held back a request of class "read"`, "saw 0 requests of class custom that passed during the barrier, and needs at least 1"},
	"SV-14": {"cp2 was ready, refused 1 writes because its registration was not complete, and was ready again", "saw 0 starts at which writes were refused before the server was ready, and needs at least 1"},
	"SV-15": {"when it had announced reference.evenkeel.dev/v1 in reference.evenkeel.dev.ballasts", "saw 1 different versions of one resource in etcd, and needs at least 2"},
	"SV-21": {"after its restart cp1 has no entry in reference.evenkeel.dev.ballasts", "saw 0 entries that a restart replaced by another version, and needs at least 1"},
	"SV-22": {`in hold "mixed" the members write`, "saw 0 holds after a rollback that changed what is written, and needs at least 1"},
	"SV-23": {"core.secrets moved to revision", "saw 0 entries that a restarting server found as it would have written them, and needs at least 1"},
	"SV-24": {"cp2 stored default/t0-cp2 of the custom resource lanterns as lanterns.evenkeel.dev/v1 at revision", "saw 0 changes back to a storage version that the member had left, of the member with the fewest, and needs at least 1"},
	"SV-25": {"called reference.evenkeel.dev/v1beta1 agreed when cp3 stored", "saw 0 agreements formed with all servers that had it again, and needs at least 1"},
}

// allStories are those of all KEPs.
var allStories = slices.Concat(storageversion.All(), discovery.All(), election.All(), migration.All(), everyrun.All())

// fixture is a story as a history file.
type fixture struct {
	story.Story
	data []byte
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	out := make([]fixture, 0, len(allStories))
	for _, s := range allStories {
		out = append(out, fixture{s, s.File()})
	}
	return out
}

// storyFile is the history file of a story.
func storyFile(name string) []byte { return story.Named(allStories, name).File() }

// judgeFile judges the bytes of a history by one requirement.
func judgeFile(t testing.TB, data []byte, id requirement.ID) Result {
	t.Helper()
	reader, err := history.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := requirement.Lookup(id)
	if !ok {
		t.Fatalf("no requirement %s", id)
	}
	j, err := Judge(Read(reader), []requirement.Requirement{r})
	if err != nil {
		t.Fatal(err)
	}
	return j.Results[0]
}

func TestFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.Name, func(t *testing.T) {
			want, ok := wanted[f.Requirement]
			if !ok {
				t.Fatal("wanted does not have the messages for its stories: add a row")
			}
			r := judgeFile(t, f.data, f.Requirement)
			switch f.Want {
			case story.Pass:
				if r.Verdict != Pass || len(r.Reasons) > 0 || len(r.Violations) > 0 {
					t.Errorf("%s: %q %v", r.Verdict, r.Reasons, r.Violations)
				}
			case story.Fail:
				if r.Verdict != Fail || !slices.ContainsFunc(r.Violations, func(v Violation) bool { return strings.Contains(v.Message, want.fail) && len(v.Evidence) > 0 }) {
					t.Errorf("%s, without %q: %v", r.Verdict, want.fail, r.Violations)
				}
			case story.Inconclusive:
				if r.Verdict != Inconclusive || !slices.ContainsFunc(r.Reasons, func(s string) bool { return strings.Contains(s, want.inconclusive) }) {
					t.Errorf("%s, without %q: %q", r.Verdict, want.inconclusive, r.Reasons)
				}
			}
		})
	}
}

func TestEveryCheckHasStories(t *testing.T) {
	for _, r := range requirement.All() {
		n := 0
		for _, want := range []story.Outcome{story.Pass, story.Fail, story.Inconclusive} {
			if slices.ContainsFunc(allStories, func(s story.Story) bool { return s.Requirement == r.ID && s.Want == want }) {
				n++
			}
		}
		if built := Built(r.ID); built && n != 3 || !built && n != 0 {
			t.Errorf("%s: a check is built in: %v; outcomes of its stories: %d of 3", r.ID, built, n)
		}
	}
}

func TestReadGivesWhatTheReaderHas(t *testing.T) {
	reader, err := history.NewReader(strings.NewReader(`{"format":"evenkeel-history","version":1,"run":"r"}` + "\n" + `{"seq":2,"at":1,"kind":"end","end":{"complete":true}}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	events := Read(reader)
	if events.Header().Run != "r" {
		t.Error("the header is lost")
	}
	if ev, err := events.Next(); err != nil || ev.End == nil {
		t.Errorf("%v %v", ev, err)
	}
	if _, err := events.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if len(events.Damage()) != 1 {
		t.Errorf("damage %q, want the missing line", events.Damage())
	}
}
