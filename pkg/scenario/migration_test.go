package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/workload"
)

const (
	migrationsPath = "/apis/storagemigration.k8s.io/v1/storageversionmigrations/"
	cratesPath     = "/apis/stores.io/v1"
)

// migrable has the shelf serve migrations, and crates.
func migrable(t *testing.T) (*Runner, *shelf, *fakeHistory) {
	t.Helper()
	r, s, h := onShelf(t)
	// Newer members serve another version, which all of them list.
	s.objects["/apis/storagemigration.k8s.io"] = map[string]any{"preferredVersion": map[string]any{"version": "v2"}}
	s.objects["/apis/storagemigration.k8s.io/v1"] = map[string]any{"resources": []any{}}
	s.objects["/apis/stores.io"] = map[string]any{"versions": []any{map[string]any{"version": "v1"}}}
	s.objects[cratesPath] = map[string]any{"resources": []any{map[string]any{"name": "crates"}}}
	w := &workload.Workload{Spec: workload.Spec{Group: "stores.io", Resource: "crates", Kind: "Crate", Namespace: "n", Keep: 1, Versions: map[string][]map[string]any{"v1": nil}}}
	r.Scenario.Populations = map[string]*workload.Workload{"crates.yaml": w}
	r.recorders.tagger = &workload.Tagger{}
	return r, s, h
}

func (s *shelf) count(part string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.objects {
		if strings.Contains(path, part) {
			n++
		}
	}
	return n
}

func TestAPopulationIsSharedByAllMembers(t *testing.T) {
	r, s, h := migrable(t)
	if err := r.play(t.Context(), 1, &Step{Action: &Populate{Name: "cargo", Workloads: []string{"crates.yaml"}, Count: 7}}); err != nil {
		t.Fatal(err)
	}
	if n := s.count("/namespaces/n/crates/"); n != 12 {
		t.Errorf("%d objects are there, and 3 of each member were to be, and 1 that is held", n)
	}
	if n := s.held(); n != 3 {
		t.Errorf("%d objects are deleted and held, and 1 of each member was to be", n)
	}
	writers := map[string]int{}
	for _, e := range h.events {
		if e.Request != nil && e.Request.Write > 0 {
			writers[e.Member]++
		}
	}
	if writers["cp1"] != 4 || writers["cp2"] != 4 || writers["cp3"] != 4 {
		t.Errorf("the members wrote %v", writers)
	}
	r.release(t.Context())
	if n := s.count("/namespaces/n/crates/"); n != 9 || s.held() != 0 {
		t.Errorf("%d objects are left when those that were held are released", n)
	}
}

// Objects that are held would keep a namespace from its end, which deleting one is about.
func TestAPopulationInANamespaceOfItsOwnHoldsNothing(t *testing.T) {
	r, s, _ := migrable(t)
	if err := r.play(t.Context(), 1, &Step{Action: &Populate{Name: "cargo", Workloads: []string{"crates.yaml"}, Count: 3, Namespace: "own"}}); err != nil {
		t.Fatal(err)
	}
	if n := s.held(); n != 0 {
		t.Errorf("%d objects are held", n)
	}
}

// What is held of a resource would keep its definition from its end.
func TestADefinitionIsDeletedWithWhatIsHeldOfIt(t *testing.T) {
	for deleted, left := range map[UnregisterAPI]int{
		{Member: "cp2", CRD: "crates", Group: "stores.io"}: 0,
		{Member: "cp2", CRD: "others", Group: "stores.io"}: 3,
		{Member: "cp2", CRD: "crates", Group: "others.io"}: 3,
	} {
		r, s, h := migrable(t)
		if err := r.play(t.Context(), 1, &Step{Action: &Populate{Name: "cargo", Workloads: []string{"crates.yaml"}, Count: 3}}); err != nil {
			t.Fatal(err)
		}
		before := len(h.events)
		if err := r.play(t.Context(), 2, &Step{Action: &deleted}); err != nil {
			t.Fatal(err)
		}
		if n := s.held(); n != left {
			t.Errorf("%s.%s is deleted: %d objects are held, and %d were to be", deleted.CRD, deleted.Group, n, left)
		}
		var verbs []string
		for _, e := range h.events[before:] {
			if e.Request != nil {
				verbs = append(verbs, e.Request.Verb)
			}
		}
		if len(verbs) != 4-left || verbs[0] != "delete" || slices.Contains(verbs[1:], "delete") {
			t.Errorf("%s.%s is deleted: the requests %v", deleted.CRD, deleted.Group, verbs)
		}
	}
}

// held counts the objects that are deleted and held.
func (s *shelf) held() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, object := range s.objects {
		if metadata, ok := object["metadata"].(map[string]any); ok && metadata["deletionTimestamp"] != nil {
			n++
		}
	}
	return n
}

func TestALargePopulationHasSeveralWriters(t *testing.T) {
	r, s, h := migrable(t)
	const each = PopulateAlone + 1
	step := Step{Action: &Populate{Name: "cargo", Workloads: []string{"crates.yaml"}, Count: 3 * each, Timeout: time.Hour}}
	if err := r.play(t.Context(), 1, &step); err != nil {
		t.Fatal(err)
	}
	if n := s.count("/namespaces/n/crates/"); n != 3*each+3*HeldMost {
		t.Errorf("%d objects are there, and %d were to be", n, 3*each+3*HeldMost)
	}
	writes := map[string]int{}
	for _, e := range h.events {
		if e.Request != nil && e.Request.Write > 0 {
			writes[e.Request.Name]++
		}
	}
	for name, n := range writes {
		if n != 1 {
			t.Errorf("%s was written %d times", name, n)
		}
	}
	if got := step.Action.(bounded).within(nil, 1); got != time.Hour {
		t.Errorf("the step is given %v", got)
	}
}

// What must be refused is tried before, after the creation, and after the end.
func TestAMigrationIsTriedInEveryWay(t *testing.T) {
	r, s, h := migrable(t)
	for i, step := range []Step{
		{Action: &Populate{Name: "cargo", Workloads: []string{"crates.yaml"}, Count: 3}},
		{Action: &Migrate{Name: "first", Member: "@cp1", Population: "cargo"}},
	} {
		if err := r.play(t.Context(), i+1, &step); err != nil {
			t.Fatal(err)
		}
	}
	path := migrationsPath + r.Run + "-first"
	s.mu.Lock()
	s.objects[path]["status"] = map[string]any{"resourceVersion": "9", "conditions": []any{
		map[string]any{"type": "Running", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"},
		map[string]any{"type": "Succeeded", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
	}}
	s.mu.Unlock()
	if err := r.play(t.Context(), 3, &Step{Action: &AwaitMigrations{Migrations: []string{"first"}}}); err != nil {
		t.Fatal(err)
	}
	var tried []string
	for _, e := range h.events {
		if r := e.Request; r != nil && r.Class == history.ClassMigration {
			tried = append(tried, fmt.Sprintf("%s %s %s", r.Verb, r.Resource, r.Invalid))
		}
	}
	const all, status = "storageversionmigrations", "storageversionmigrations/status"
	want := []string{
		"create " + all + " resource", "create " + all + " group", "create " + all + " ", "update " + all + " change",
		"update " + status + " outcome", "update " + status + " both", "update " + status + " checkpoint",
	}
	if !slices.Equal(tried, want) {
		t.Errorf("tried %q\nwant  %q", tried, want)
	}
	if err := r.play(t.Context(), 4, &Step{Action: &DeleteMigration{Member: "@cp2", Migration: "first"}}); err != nil {
		t.Fatal(err)
	}
	if s.objects[path]["deleted"] != true {
		t.Error("it is still there")
	}
}

func TestMistakesInStepsOfMigration(t *testing.T) {
	const populate = "populate: {name: p, workloads: [w.yaml], count: 3}"
	for _, test := range []struct{ step, want string }{
		{"populate: {name: p, count: 3}", "workloads must be there"},
		{"populate: {workloads: [w.yaml], count: 3}", "name is missing"},
		{"populate: {name: p, workloads: [w.yaml], count: 0}", "either count or migrationDuration"},
		{"populate: {name: p, workloads: [w.yaml], count: 3, migrationDuration: 1s}", "either count or migrationDuration"},
		{"populate: {name: p, workloads: [w.yaml], migrationDuration: -1s}", "either count or migrationDuration"},
		{"populate: {name: p, workloads: [x.yaml], count: 3}", "read the workload workloads/x.yaml"},
		{"mutate: {population: p, rate: 3}", `no earlier step makes a population "p"`},
		{"mutate: {population: p, rate: -3}", "rate is -3 a second, and must be 0 or between"},
		{"mutate: {population: p, rate: 1e10}", "and must be 0 or between"},
		{"migrate: {name: m, member: cp1}", "needs either population, or resource"},
		{"migrate: {name: m, member: cp1, population: q}", `no earlier step makes a population "q"`},
		{"migrate: {name: m, resource: r}", "member is missing"},
		{"migrate: {name: m, member: cp1, resource: r, until: half}", "must be a percentage"},
		{"migrate: {name: m, member: cp1, resource: r, until: 120%}", "must be a percentage"},
		{"migrate: {name: m, member: cp1, resource: r, until: NaN%}", "must be a percentage"},
		{"migrate: {name: m, member: cp1, resource: r, until: 5%, wait: true}", "exclude each other"},
		{"awaitMigrations: {migrations: [m]}", `no earlier step makes a migration "m"`},
		{"awaitMigrations: {}", "migrations is missing"},
		{"awaitMigrations: {migrations: [m], until: most}", "must be a percentage"},
		{"awaitMigrations: {migrations: [m, n], until: 5%}", "until is of one migration"},
		{"awaitMigrations: {migrations: [m], timeout: -1s}", "timeout must not be negative"},
		{"populate: {name: p, workloads: [w.yaml], count: 3, timeout: -1s}", "timeout must not be negative"},
		{"deleteMigration: {member: cp1, migration: m}", `no earlier step makes a migration "m"`},
		{"registerAPI: {member: cp1, crd: a, group: g.io, versions: [v1], storage: v9}", "storage belongs to a crd"},
	} {
		_, err := LoadFS(fstest.MapFS{"s/x.yaml": {Data: []byte(head + "steps:\n- " + test.step + "\n")}}, "s/x.yaml")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v\nwant one with %s", test.step, err, test.want)
		}
	}
	twice := head + "steps:\n- " + populate + "\n- " + populate + "\n"
	if _, err := LoadFS(fstest.MapFS{"s/x.yaml": {Data: []byte(twice)}}, "s/x.yaml"); err == nil || !strings.Contains(err.Error(), "is taken by an earlier population") {
		t.Errorf("a name was given twice: %v", err)
	}
}
