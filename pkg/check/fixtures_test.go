package check

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const histories = "../../fixtures/histories"

// wanted is what must be said of the histories that do not pass.
var wanted = map[requirement.ID]struct{ fail, weak string }{
	"SV-01": {"hosts endpoints, but StorageVersion core.endpoints had no entry of apiserver-cp2", "different members among those servers"},
	"SV-02": {`StorageVersion "secrets" is not the <group>.<resource>`, "names of resources of the core group"},
	"SV-03": {"more than one entry of apiserver-cp1", "compared with the participants at the end of a hold"},
	"SV-04": {"whose encoding version cannot be decoded", "statuses with an undecodable version refused"},
	"SV-05": {"but its discovery lists", "entries compared with their server's discovery"},
	"SV-06": {"the agreed version is none and the condition True", "revisions with entries that differ"},
	"SV-07": {"but the outcome stayed none", "revisions that took the agreed version away"},
	"SV-08": {"after cp3 had joined, which had not reported in it", "did not report for long, and all others agreed"},
	"SV-09": {"lost that of apiserver-cp2, which takes part", "another one was starting"},
	"SV-10": {"and had no entry in core.secrets, which somebody edited all the time", "edited more often than once a second"},
	"SV-11": {"when that server had no identity Lease", "entries that appeared"},
	"SV-12": {"before it announced reference.evenkeel.dev/v1", "guarded writes refused"},
	"SV-13": {`held back a request of class "read"`, "requests of class custom"},
	"SV-14": {"was ready, refused 1 writes", "refused before the server was ready"},
	"SV-15": {"when it had announced reference.evenkeel.dev/v1", "different versions of one resource"},
	"SV-21": {"has no entry in reference.evenkeel.dev.ballasts at revision", "entries that a restart replaced"},
	"SV-22": {"but clients of cp2 see reference.evenkeel.dev/v1beta1 agreed", "holds after a rollback"},
	"SV-23": {"although nothing in it changed", "that a restarting server found"},
	"SV-24": {"when it had announced lanterns.evenkeel.dev/v1beta1", "changes back to a storage version"},
	"SV-25": {"called reference.evenkeel.dev/v1beta1 agreed when cp3 stored", "agreements formed with all servers that had it again"},
}

// file is one fixture, with the requirement that it is about.
type file struct {
	id   requirement.ID
	name string
	data []byte
}

func fixtures(t testing.TB) []file {
	t.Helper()
	var out []file
	for _, r := range requirement.All() {
		if !Built(r.ID) {
			continue
		}
		for _, name := range []string{"pass", "fail", "weak"} {
			data, err := os.ReadFile(filepath.Join(histories, string(r.ID), name+".jsonl"))
			if err != nil {
				t.Fatalf("every check needs three histories: %v", err)
			}
			out = append(out, file{r.ID, name, data})
		}
	}
	if len(out) == 0 {
		t.Fatal("there are no fixtures")
	}
	return out
}

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
		t.Run(string(f.id)+"/"+f.name, func(t *testing.T) {
			want, ok := wanted[f.id]
			if !ok {
				t.Fatal("say in wanted what its histories must show")
			}
			r := judgeFile(t, f.data, f.id)
			switch f.name {
			case "pass":
				if r.Verdict != Pass || len(r.Reasons) > 0 || len(r.Violations) > 0 {
					t.Errorf("%s: %q %v", r.Verdict, r.Reasons, r.Violations)
				}
			case "fail":
				if r.Verdict != Fail || !slices.ContainsFunc(r.Violations, func(v Violation) bool { return strings.Contains(v.Message, want.fail) && len(v.Evidence) > 0 }) {
					t.Errorf("%s, without %q: %v", r.Verdict, want.fail, r.Violations)
				}
			case "weak":
				if r.Verdict != Inconclusive || !slices.ContainsFunc(r.Reasons, func(s string) bool { return strings.Contains(s, want.weak) }) {
					t.Errorf("%s, without %q: %q", r.Verdict, want.weak, r.Reasons)
				}
			}
		})
	}
}

func TestFoldersOfFixturesAreChecks(t *testing.T) {
	dirs, err := os.ReadDir(histories)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if !Built(requirement.ID(d.Name())) {
			t.Errorf("%s has histories and no check", d.Name())
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
