package migration

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
)

var (
	start   = time.Unix(1_700_000_000, 0).UTC()
	widgets = schema.GroupResource{Group: "g", Resource: "widgets"}
)

// storageVersion is an object in which each of the servers encodes as given;
// they agree if the first argument says on what.
func storageVersion(rv, agreed string, encodings ...string) *apiserverinternalv1alpha1.StorageVersion {
	sv := &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: "g.widgets", UID: "sv", ResourceVersion: rv}}
	for _, encoding := range encodings {
		sv.Status.StorageVersions = append(sv.Status.StorageVersions, apiserverinternalv1alpha1.ServerStorageVersion{
			EncodingVersion: encoding, DecodableVersions: []string{"g/v1", "g/v2"}})
	}
	if agreed != "" {
		sv.Status.CommonEncodingVersion = &agreed
	}
	return sv
}

// since sets the transition time.
func since(sv *apiserverinternalv1alpha1.StorageVersion, seconds int) *apiserverinternalv1alpha1.StorageVersion {
	sv.Status.Conditions = []apiserverinternalv1alpha1.StorageVersionCondition{{
		Type: apiserverinternalv1alpha1.AllEncodingVersionsEqual, LastTransitionTime: metav1.NewTime(start.Add(time.Duration(seconds) * time.Second))}}
	return sv
}

func single(sv *apiserverinternalv1alpha1.StorageVersion) *apiserverinternalv1alpha1.StorageVersion {
	for i := range sv.Status.StorageVersions {
		sv.Status.StorageVersions[i].DecodableVersions = []string{sv.Status.StorageVersions[i].EncodingVersion}
	}
	return sv
}

func svm(name string, age time.Duration, conditions ...metav1.Condition) *storagemigrationv1.StorageVersionMigration {
	m := &storagemigrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(start.Add(-age)), Generation: 1}}
	m.Spec.Resource = metav1.GroupResource{Group: "g", Resource: "widgets"}
	m.Status.Conditions = conditions
	return m
}

func TestDiscover(t *testing.T) {
	all := metav1.Verbs{"get", "list", "update", "delete"}
	lists := []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Verbs: all}, {Name: "pods/status", Verbs: all}, {Name: "bindings", Verbs: metav1.Verbs{"create"}}}},
		{GroupVersion: "g/v2", APIResources: []metav1.APIResource{{Name: "widgets", Verbs: all}}},
		{GroupVersion: "far/v1", APIResources: []metav1.APIResource{{Name: "echoes", Verbs: all}, {Name: "views", Verbs: metav1.Verbs{"list", "get"}}}},
	}
	targets := Discover(lists, []schema.GroupVersion{{Group: "mute", Version: "v1"}}, sets.New(widgets), sets.New(schema.GroupVersion{Group: "far", Version: "v1"}))
	var names []string
	for _, target := range targets.All() {
		names = append(names, target.Resource.String()+" "+target.Version+" "+string(target.Origin))
	}
	if want := []string{"configmaps v1 built-in", "echoes.far v1 aggregated", "widgets.g v2 custom"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	for _, test := range []struct {
		group, resource string
		found, certain  bool
	}{{"g", "widgets", true, true}, {"g", "gadgets", false, true}, {"mute", "things", false, false}} {
		_, found, certain := targets.Find(schema.GroupResource{Group: test.group, Resource: test.resource})
		if found != test.found || certain != test.certain {
			t.Errorf("%s: found %v, certain %v", test.resource, found, certain)
		}
	}
	if views, _, _ := targets.Find(schema.GroupResource{Group: "far", Resource: "views"}); views.Migratable() == nil {
		t.Error("what cannot be updated can be migrated")
	}
}

func TestTargets_TellWhichResourcesShareTheirStorage(t *testing.T) {
	all := metav1.Verbs{"list", "update"}
	list := func(version, resource, hash string, verbs metav1.Verbs) *metav1.APIResourceList {
		return &metav1.APIResourceList{GroupVersion: version, APIResources: []metav1.APIResource{{Name: resource, Verbs: verbs, StorageVersionHash: hash}}}
	}
	lists := []*metav1.APIResourceList{
		list("v1", "events", "", all), list("events.k8s.io/v1", "events", "", all),
		list("v1beta1", "pods", "", all), list("metrics.k8s.io/v1", "pods", "", metav1.Verbs{"list"}), list("apps/v1", "deployments", "", all),
	}
	if got, want := Namesakes(lists), []string{"events.k8s.io/v1", "v1"}; !slices.Equal(got, want) {
		t.Errorf("namesakes are in %q, want %q", got, want)
	}
	targets := Discover([]*metav1.APIResourceList{
		list("v1", "events", "one", all), list("events.k8s.io/v1", "events", "one", all),
		list("g/v1", "events", "other", all), list("h/v1", "things", "", all), list("i/v1", "others", "", all),
	}, nil, nil, nil)
	events := schema.GroupResource{Resource: "events"}
	for resource, want := range map[schema.GroupResource][]schema.GroupResource{
		events: {{Group: "events.k8s.io", Resource: "events"}},
		{Group: "events.k8s.io", Resource: "events"}: {events},
		{Group: "g", Resource: "events"}:             nil,
		{Group: "h", Resource: "things"}:             nil,
		{Group: "h", Resource: "nothings"}:           nil,
	} {
		if got := targets.Sharing(resource); !slices.Equal(got, want) {
			t.Errorf("%s shares its storage with %v, want %v", resource, got, want)
		}
	}
}

func TestBasis(t *testing.T) {
	basis, ok := BasisOf(storageVersion("5", "g/v2", "g/v2"))
	if !ok {
		t.Fatal("no basis")
	}
	recreated := storageVersion("5", "g/v2", "g/v2")
	recreated.UID = "other"
	tests := []struct {
		name string
		sv   *apiserverinternalv1alpha1.StorageVersion
		want Standing
	}{
		{"the same", storageVersion("5", "g/v2", "g/v2"), Holds},
		{"another server joined in", storageVersion("6", "g/v2", "g/v2", "g/v2"), Moved},
		{"created anew", recreated, Moved},
		{"no agreement", storageVersion("6", "", "g/v2", "g/v1"), Lost},
		{"agreement on another version", storageVersion("7", "g/v1", "g/v1"), Lost},
		{"deleted", nil, Lost},
	}
	for _, test := range tests {
		if got := basis.Check(test.sv); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestBasisPrecedes(t *testing.T) {
	basis := Basis{ResourceVersion: "10"}
	for version, want := range map[string]bool{"9": false, "10": false, "11": true, "100": true, "": false, "x": false} {
		if got := basis.Precedes(storageVersion(version, "")); got != want {
			t.Errorf("10 precedes %q: %v", version, got)
		}
	}
}

func TestTrim(t *testing.T) {
	basis := Basis{Version: "g/v2"}
	definition := func(generation int64, storage string, stored ...string) *Definition {
		return &Definition{Group: "g", Generation: generation, Storage: storage, Versions: []string{"v1", "v2"}, Stored: stored}
	}
	tests := []struct {
		name       string
		definition *Definition
		want       bool
	}{
		{"no definition", nil, false},
		{"as it was", definition(3, "v2", "v1", "v2"), true},
		{"nothing to trim", definition(3, "v2", "v2"), false},
		{"changed meanwhile", definition(4, "v2", "v1", "v2"), false},
		{"stores another version now", definition(3, "v1", "v1", "v2"), false},
		{"the version was never listed", definition(3, "v2", "v1"), false},
	}
	for _, test := range tests {
		got, ok := test.definition.Trim(basis, 3)
		if ok != test.want || ok && !slices.Equal(got, []string{"v2"}) {
			t.Errorf("%s: %v, %v", test.name, got, ok)
		}
	}
}

func TestDecide(t *testing.T) {
	seen := func(persisted ...string) State {
		return State{ResourceVersion: "5", UID: "sv", Persisted: persisted}
	}
	flipped := &Definition{Group: "g", Storage: "v1", Versions: []string{"v1", "v2"}, Stored: []string{"v1", "v2"}}
	followed := &Definition{Group: "g", Storage: "v2", Versions: []string{"v1", "v2"}, Stored: []string{"v1", "v2"}}
	alone := &Definition{Group: "g", Storage: "v2", Versions: []string{"v2"}, Stored: []string{"v2"}}
	agreed := storageVersion("5", "g/v2", "g/v2", "g/v2")
	tests := []struct {
		name       string
		state      State
		sv         *apiserverinternalv1alpha1.StorageVersion
		definition *Definition
		underWay   bool
		want       Trigger
	}{
		{"all in one version", seen("g/v2"), agreed, nil, false, Nothing},
		{"other versions may be stored", seen("g/v1", "g/v2"), agreed, nil, false, Begin},
		{"unknown versions may be stored", seen(Unknown, "g/v2"), agreed, nil, false, Begin},
		{"a migration is under way", seen("g/v1", "g/v2"), agreed, nil, true, Nothing},
		{"no agreement", seen("g/v1", "g/v2"), storageVersion("5", "", "g/v1", "g/v2"), nil, false, Await},
		{"one version", seen(Unknown), single(storageVersion("5", "g/v2", "g/v2")), nil, false, ShortCircuit},
		{"the definition is ahead of the servers", seen("g/v1"), agreed, flipped, false, Await},
		{"the servers have followed", seen("g/v1", "g/v2"), agreed, followed, false, Begin},
		{"storedVersions is not trimmed", seen("g/v2"), agreed, followed, false, Begin},
		{"a definition with one version", seen(Unknown), single(storageVersion("5", "g/v2", "g/v2")), alone, false, ShortCircuit},
		{"just failed", seen("g/v1", "g/v2").Stopped(start.Add(-time.Minute)), agreed, nil, false, Await},
		{"failed long ago", seen("g/v1", "g/v2").Stopped(start.Add(-2 * AutomaticRetry)), agreed, nil, false, Begin},
		{"failed under another agreement", func() State {
			s := seen("g/v1", "g/v2").Stopped(start)
			s.ResourceVersion = "6"
			return s
		}(), agreed, nil, false, Begin},
	}
	for _, test := range tests {
		if got, reason := Decide(test.state, test.sv, test.definition, test.underWay, start); got != test.want {
			t.Errorf("%s: %s (%s), want %s", test.name, got, reason, test.want)
		}
	}
}

func TestObserve(t *testing.T) {
	first := since(storageVersion("5", "g/v1", "g/v1"), 0)
	state := State{}.Observe(first, false)
	if want := []string{Unknown, "g/v1"}; !slices.Equal(state.Persisted, want) {
		t.Fatalf("at first %v may be stored, want %v", state.Persisted, want)
	}
	basis, _ := BasisOf(first)
	state = state.Asked("test").Launched(1).Completed(1, basis)
	if !state.Settled("g/v1") || state.CompletedGeneration != 1 {
		t.Fatalf("after a migration: %+v", state)
	}
	tests := []struct {
		name    string
		sv      *apiserverinternalv1alpha1.StorageVersion
		watched bool
		want    []string
	}{
		{"the same again", first, false, []string{"g/v1"}},
		{"a server announced another version", since(storageVersion("6", "", "g/v1", "g/v2"), 9), true, []string{"g/v1", "g/v2"}},
		{"a server joined in", since(storageVersion("6", "g/v1", "g/v1", "g/v1"), 0), true, []string{"g/v1"}},
		{"a server joined in, unwatched", since(storageVersion("6", "g/v1", "g/v1", "g/v1"), 0), false, []string{"g/v1"}},
		{"agreement was interrupted, unwatched", since(storageVersion("9", "g/v1", "g/v1"), 9), false, []string{Unknown, "g/v1"}},
		{"a revision was missed", since(storageVersion("9", "g/v1", "g/v1"), 9), true, []string{Unknown, "g/v1"}},
	}
	for _, test := range tests {
		if got := state.Observe(test.sv, test.watched).Persisted; !slices.Equal(got, test.want) {
			t.Errorf("%s: %v may be stored, want %v", test.name, got, test.want)
		}
	}
	moved := state.Observe(since(storageVersion("6", "", "g/v1", "g/v2"), 9), true)
	if moved.Completed(1, basis).Settled("g/v1") {
		t.Error("a migration settled what was announced after its basis")
	}
}

func TestHeads(t *testing.T) {
	running, succeeded := condition(storagemigrationv1.MigrationRunning, metav1.ConditionTrue), condition(storagemigrationv1.MigrationSucceeded, metav1.ConditionTrue)
	other := svm("other", time.Second)
	other.Spec.Resource.Resource = "gadgets"
	deleted := svm("deleted", time.Hour)
	deleted.DeletionTimestamp = &metav1.Time{Time: start}
	tests := []struct {
		name string
		svms []*storagemigrationv1.StorageVersionMigration
		want []string
	}{
		{"none", nil, nil},
		{"older first", []*storagemigrationv1.StorageVersionMigration{svm("a", time.Second), svm("b", time.Minute)}, []string{"b"}},
		{"by name in the same second", []*storagemigrationv1.StorageVersionMigration{svm("b", time.Second), svm("a", time.Second)}, []string{"a"}},
		{"what was begun goes first", []*storagemigrationv1.StorageVersionMigration{svm("a", time.Minute), svm("b", time.Second, running)}, []string{"b"}},
		{"finished ones have had their turn", []*storagemigrationv1.StorageVersionMigration{svm("a", time.Minute, succeeded), svm("b", time.Second), deleted}, []string{"b"}},
		{"one of each resource", []*storagemigrationv1.StorageVersionMigration{svm("a", time.Minute), svm("b", 30*time.Second), other}, []string{"a", "other"}},
	}
	for _, test := range tests {
		var got []string
		for _, head := range Heads(test.svms) {
			got = append(got, head.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestAssess(t *testing.T) {
	running := condition(storagemigrationv1.MigrationRunning, metav1.ConditionTrue)
	young, old, begun := svm("m", time.Second), svm("m", 2*UnknownGrace), svm("m", time.Hour, running)
	target := Target{Resource: widgets, Version: "v2", Verbs: sets.New("list", "update")}
	facts := func(sv *apiserverinternalv1alpha1.StorageVersion) Facts {
		return Facts{Target: target, Found: true, Certain: true, StorageVersion: sv}
	}
	agreed, split := storageVersion("5", "g/v2", "g/v2"), storageVersion("5", "", "g/v1", "g/v2")
	away := func(sv *apiserverinternalv1alpha1.StorageVersion) Facts {
		return Facts{Certain: true, StorageVersion: sv}
	}
	resting := func(since time.Duration) *storagemigrationv1.StorageVersionMigration {
		retries := condition(storagemigrationv1.MigrationRunning, metav1.ConditionFalse)
		retries.LastTransitionTime = metav1.NewTime(start.Add(-since))
		return svm("m", OutagePatience+time.Hour, retries)
	}
	readOnly := facts(agreed)
	readOnly.Target.Verbs = sets.New("list")
	ahead := facts(agreed)
	ahead.Definition = &Definition{Group: "g", Storage: "v1", Versions: []string{"v1", "v2"}}
	tests := []struct {
		name   string
		svm    *storagemigrationv1.StorageVersionMigration
		facts  Facts
		want   Step
		reason string
	}{
		{"not served yet", young, Facts{Certain: true}, Wait, ReasonAwaitingResource},
		{"not served", old, Facts{Certain: true}, Fail, ReasonNotFound},
		{"away, and servers store it", old, away(agreed), Wait, ReasonAwaitingResource},
		{"away while it runs", begun, away(agreed), Wait, ReasonAwaitingResource},
		{"away for a moment", resting(time.Minute), away(agreed), Wait, ReasonAwaitingResource},
		{"away for too long", resting(OutagePatience), away(agreed), Fail, ReasonNotFound},
		{"away, and the agreement lost", begun, away(split), Fail, ReasonAgreementLost},
		{"away with its servers", begun, away(nil), Fail, ReasonNotFound},
		{"its server is silent", old, Facts{}, Wait, ReasonAwaitingResource},
		{"read only", young, readOnly, Fail, ReasonNotMigratable},
		{"not announced yet", young, facts(nil), Wait, ReasonAwaitingAgreement},
		{"not announced", old, facts(nil), Fail, ReasonNotAnnounced},
		{"no agreement", old, facts(split), Wait, ReasonAwaitingAgreement},
		{"the definition is ahead", old, ahead, Wait, ReasonAwaitingAgreement},
		{"agreement lost", begun, facts(split), Fail, ReasonAgreementLost},
		{"the definition changed", begun, ahead, Fail, ReasonAgreementLost},
		{"not announced any more", begun, facts(nil), Fail, ReasonAgreementLost},
		{"one version", young, facts(single(storageVersion("5", "g/v2", "g/v2"))), Skip, ReasonShortCircuited},
		{"agreed", young, facts(agreed), Run, ReasonRunning},
	}
	for _, test := range tests {
		got := Assess(test.svm, test.facts, start)
		if got.Step != test.want || got.Reason != test.reason {
			t.Errorf("%s: %+v, want %s for %s", test.name, got, test.want, test.reason)
		}
		if (got.Step == Run || got.Step == Skip) != (got.Basis.Version != "") || got.Step != Run && got.Message == "" {
			t.Errorf("%s: incomplete: %+v", test.name, got)
		}
	}
}

func TestCheckpoint_CountsEachChunk(t *testing.T) {
	c := Begun("m", 4, Basis{Version: "g/v2"}, &Definition{Generation: 7})
	if _, known := c.Total(); known || c.Pass != 1 || c.DefinitionGeneration != 7 {
		t.Errorf("begun: %+v", c)
	}
	c = midway()
	if total, _ := c.Total(); total != 15 || c.Listed || c.Continue != "a" || c.Message() != "10 of 15 objects migrated to g/v2." {
		t.Errorf("after a chunk: %+v: %s", c, c.Message())
	}
	read, err := DecodeCheckpoint(c.Encode())
	if err != nil || read.Encode() != c.Encode() {
		t.Errorf("read back as %+v, %v", read, err)
	}
	if _, err := DecodeCheckpoint("half a checkpo"); err == nil {
		t.Error("garbage is accepted")
	}
}

// midway is a checkpoint after the first chunk, of 10 objects.
func midway() Checkpoint {
	c := Begun("m", 4, Basis{Version: "g/v2"}, &Definition{Generation: 7})
	return c.After(Chunk{Continue: "a", Remaining: ptr.To[int64](5), Done: Tally{Written: 8, Overtaken: 1, Gone: 1}})
}

func TestCheckpoint_GoesOnWhereTheServerSays(t *testing.T) {
	c := midway()
	if got := c.Expired("b"); got.Continue != "b" || got.Done != c.Done || got.Pass != 1 {
		t.Errorf("the server offered another token: %+v", got)
	}
	if got := c.Expired(""); got.Continue != "" || got.Done.Total() != 0 || got.Pass != 2 || got.DefinitionGeneration != 7 {
		t.Errorf("the server offered none: %+v", got)
	}
}

func TestCheckpoint_KeepsTheFirstRefusal(t *testing.T) {
	last := midway().After(Chunk{Done: Tally{Refused: 2}, Refusal: "x: no"}).After(Chunk{Refusal: "y: no"})
	if !last.Listed || last.Refusal != "x: no" || last.Message() != "10 of 12 objects migrated to g/v2; 2 refused, the first: x: no." {
		t.Errorf("at the end: %+v: %s", last, last.Message())
	}
	if again := last.Again(Basis{Version: "g/v2", ResourceVersion: "9"}, nil); again.Done.Total() != 0 || again.Pass != 2 || again.Refusal != "" || again.Generation != 4 || again.Migration != "m" {
		t.Errorf("another pass: %+v", again)
	}
}

func TestCheckpointTellsOfTheChunkThatIsBeingWritten(t *testing.T) {
	c := Checkpoint{Basis: Basis{Version: "g/v2"}, Pass: 1, Done: Tally{Written: 10}}
	if got := c.Within(Tally{Written: 3, Gone: 1}).Message(); got != "14 objects migrated to g/v2." {
		t.Errorf("got %q", got)
	}
	remaining := int64(20)
	c.Remaining = &remaining
	if got := c.Within(Tally{Written: 4}).Message(); got != "14 of 30 objects migrated to g/v2." || remaining != 20 {
		t.Errorf("got %q, with %d remaining", got, remaining)
	}
}

func TestClassify(t *testing.T) {
	resource := schema.GroupResource{Group: "g", Resource: "widgets"}
	code := func(status int32) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: status}}
	}
	terminating := apierrors.NewForbidden(resource, "a", errors.New("the namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	tests := []struct {
		name  string
		err   error
		want  Outcome
		asked time.Duration
	}{
		{"stored", nil, Written, 0},
		{"deleted", apierrors.NewNotFound(resource, "a"), Gone, 0},
		{"another object is missing", apierrors.NewNotFound(resource, "b"), Unserved, 0},
		{"its namespace is missing", apierrors.NewNotFound(corev1.Resource("namespaces"), "a"), Unserved, 0},
		{"no server knows the path", apierrors.NewGenericServerResponse(http.StatusNotFound, "PUT", resource, "a", "404 page not found", 0, true), Unserved, 0},
		{"no server knows the resource", code(http.StatusNotFound), Unserved, 0},
		{"written by another client", apierrors.NewConflict(resource, "a", errors.New("x")), Overtaken, 0},
		{"its namespace goes", terminating, Again, 0},
		{"too many requests", apierrors.NewTooManyRequests("slow down", 7), Again, 7 * time.Second},
		{"unavailable", apierrors.NewServiceUnavailable("x"), Again, 0},
		{"timeout", apierrors.NewTimeoutError("x", 2), Again, 2 * time.Second},
		{"server timeout", apierrors.NewServerTimeout(resource, "update", 1), Again, time.Second},
		{"certificate being replaced", apierrors.NewUnauthorized("x"), Again, 0},
		{"bad gateway", code(http.StatusBadGateway), Again, 0},
		{"connection reset", errors.New("connection reset by peer"), Again, 0},
		{"internal error", apierrors.NewInternalError(errors.New("x")), Broken, 0},
		{"forbidden", apierrors.NewForbidden(resource, "a", errors.New("x")), Refused, 0},
		{"invalid", apierrors.NewInvalid(schema.GroupKind{}, "a", nil), Refused, 0},
		{"bad request", apierrors.NewBadRequest("x"), Refused, 0},
		{"no such method", apierrors.NewMethodNotSupported(resource, "update"), Refused, 0},
	}
	for _, test := range tests {
		if got, asked := Classify(test.err, resource, "a"); got != test.want || asked != test.asked {
			t.Errorf("%s: %s after %s, want %s after %s", test.name, got, asked, test.want, test.asked)
		}
	}
	for rate, want := range map[float64]int64{0.1: LeastChunk, DefaultRate: 40, 1e6: MostChunk} {
		if got := ChunkSize(rate); got != want {
			t.Errorf("at %v writes a second %d objects are listed at a time, want %d", rate, got, want)
		}
	}
	if got := Retry(1, 0); got != RetryFirst {
		t.Errorf("first pause %s", got)
	}
	if got := Retry(99, 0); got != RetryMost {
		t.Errorf("longest pause %s", got)
	}
	if got := Retry(1, time.Hour); got != time.Hour {
		t.Errorf("the server's wish gives %s", got)
	}
}

func TestStatus(t *testing.T) {
	m := svm("m", time.Hour)
	m.Status = Waiting(m, ReasonQueued, "q", start)
	if len(ValidateStatus(&m.Status)) > 0 || Started(m) {
		t.Errorf("waiting: %+v", m.Status)
	}
	m.Status = Running(m, "5", "r", start)
	later := Running(m, "9", "further", start.Add(time.Minute))
	if later.ResourceVersion != "5" || !later.Conditions[0].LastTransitionTime.Equal(ptr.To(metav1.NewTime(start))) || later.Conditions[0].Message != "further" {
		t.Errorf("running: %+v", later)
	}
	ended := Ended(m, storagemigrationv1.MigrationSucceeded, ReasonSucceeded, "s", start)
	if len(ValidateStatus(&ended)) > 0 || len(ValidateStatusUpdate(&ended, &m.Status)) > 0 {
		t.Errorf("ended: %+v", ended)
	}
	m.Status = ended
	if !Finished(m) || Started(m) {
		t.Errorf("ended: %+v", ended)
	}
}
