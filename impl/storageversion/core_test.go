package storageversion

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/evenkeel/evenkeel/impl/defects"
)

type (
	svStatus = apiserverinternalv1alpha1.StorageVersionStatus
	svEntry  = apiserverinternalv1alpha1.ServerStorageVersion
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)

func entryAt(id, version string) svEntry {
	return svEntry{APIServerID: id, EncodingVersion: version, DecodableVersions: []string{"v1", "v2"}, ServedVersions: []string{"v1"}}
}

func taking(ids ...string) Participants {
	p := Participants{}
	for _, id := range ids {
		p[id] = false
	}
	return p
}

func TestAgreedVersion(t *testing.T) {
	for _, tc := range []struct {
		name         string
		entries      []svEntry
		participants Participants
		want         *string
	}{
		{"no server reported", nil, taking("a"), nil},
		{"one server", []svEntry{entryAt("a", "v1")}, taking("a"), ptr.To("v1")},
		{"all equal", []svEntry{entryAt("a", "v1"), entryAt("b", "v1")}, taking("a", "b"), ptr.To("v1")},
		{"different", []svEntry{entryAt("a", "v1"), entryAt("b", "v2")}, taking("a", "b"), nil},
		{"one has not reported", []svEntry{entryAt("a", "v1")}, taking("a", "b"), nil},
		{"one does not host it", []svEntry{entryAt("a", "v1")}, Participants{"a": false, "b": true}, ptr.To("v1")},
		{"a registered one differs", []svEntry{entryAt("a", "v1"), entryAt("b", "v2")}, Participants{"a": true, "b": true}, nil},
		{"counted by defect", []svEntry{entryAt("a", "v1")}, onlyReported(taking("a", "b"), &svStatus{}, "a"), ptr.To("v1")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := agreedVersion(tc.entries, tc.participants); !sameVersion(got, tc.want) {
				t.Errorf("got %v, want %v", ptr.Deref(got, "none"), ptr.Deref(tc.want, "none"))
			}
		})
	}
}

// The transition time moves exactly when the outcome does, and only forward.
func TestTransitionTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outcomes := rapid.SampledFrom([]*string{nil, ptr.To("v1"), ptr.To("v2")})
		status, now := svStatus{}, epoch
		for step := range rapid.IntRange(1, 20).Draw(t, "steps") {
			agreed := outcomes.Draw(t, "outcome")
			now = now.Add(time.Duration(rapid.IntRange(-2000, 5000).Draw(t, "ms")) * time.Millisecond)
			next := svStatus{CommonEncodingVersion: agreed, Conditions: withCondition(&status, nil, agreed, now)}
			if len(next.Conditions) != 1 {
				t.Fatalf("%d conditions", len(next.Conditions))
			}
			after := next.Conditions[0]
			if (after.Status == apiserverinternalv1alpha1.ConditionTrue) != (agreed != nil) || after.Reason == "" || after.Message == "" {
				t.Fatalf("condition %+v for %v", after, agreed)
			}
			if step > 0 {
				before := status.Conditions[0]
				moved := !before.LastTransitionTime.Equal(&after.LastTransitionTime)
				changed := !sameVersion(status.CommonEncodingVersion, agreed)
				if changed && before.LastTransitionTime.After(now) {
					changed = false // it is ahead already
				}
				if moved != changed {
					t.Fatalf("moved: %v, outcome changed: %v", moved, changed)
				}
				if after.LastTransitionTime.Time.Before(before.LastTransitionTime.Time) {
					t.Fatal("went back")
				}
				if moved && after.LastTransitionTime.Sub(now) > time.Second {
					t.Fatalf("it is %s, and the transition %s", now, after.LastTransitionTime)
				}
			}
			if after.LastTransitionTime.Nanosecond() != 0 {
				t.Fatal("would not survive being stored")
			}
			status = next
		}
	})
}

func TestConditionKeepsOthers(t *testing.T) {
	other := apiserverinternalv1alpha1.StorageVersionCondition{Type: "Other", Status: "True", Reason: "R", Message: "M"}
	got := withCondition(&svStatus{Conditions: []apiserverinternalv1alpha1.StorageVersionCondition{other}}, nil, ptr.To("v1"), epoch)
	if len(got) != 2 || got[0] != other {
		t.Errorf("got %+v", got)
	}
	status := inverted(svStatus{CommonEncodingVersion: ptr.To("v1"), Conditions: withCondition(&svStatus{}, nil, ptr.To("v1"), epoch)})
	inverted := slices.Clone(status.Conditions)
	if inverted[0].Status != apiserverinternalv1alpha1.ConditionFalse {
		t.Errorf("not inverted: %+v", inverted)
	}
	Touch(&status, epoch, nil)
	if status.Conditions[0] != inverted[0] {
		t.Error("touched without the defect")
	}
	Touch(&status, epoch, defects.Of(defects.SV07RestlessTransition))
	if !status.Conditions[0].LastTransitionTime.After(inverted[0].LastTransitionTime.Time) {
		t.Error("not touched")
	}
}

func TestMerge(t *testing.T) {
	own := []svEntry{entryAt("b", "v2")}
	for _, tc := range []struct {
		name         string
		old          []svEntry
		own          []svEntry
		participants Participants
		want         []svEntry
		agreed       *string
	}{
		{"first", nil, own, taking("b"), own, ptr.To("v2")},
		{"added at the end", []svEntry{entryAt("a", "v2")}, own, taking("a", "b"), []svEntry{entryAt("a", "v2"), entryAt("b", "v2")}, ptr.To("v2")},
		{"replaced in place", []svEntry{entryAt("b", "v1"), entryAt("a", "v1")}, own, taking("a", "b"), []svEntry{entryAt("b", "v2"), entryAt("a", "v1")}, nil},
		{"doubled entry is made one", []svEntry{entryAt("b", "v1"), entryAt("a", "v2"), entryAt("b", "v1")}, own, taking("a", "b"), []svEntry{entryAt("b", "v2"), entryAt("a", "v2")}, ptr.To("v2")},
		{"stale removed", []svEntry{entryAt("gone", "v1"), entryAt("a", "v2")}, own, taking("a", "b"), []svEntry{entryAt("a", "v2"), entryAt("b", "v2")}, ptr.To("v2")},
		{"stale kept by defect", []svEntry{entryAt("gone", "v1")}, own, withReported(taking("b"), &svStatus{StorageVersions: []svEntry{entryAt("gone", "v1")}}), []svEntry{entryAt("gone", "v1"), entryAt("b", "v2")}, nil},
		{"taken back", []svEntry{entryAt("b", "v1"), entryAt("a", "v1")}, nil, Participants{"a": false, "b": true}, []svEntry{entryAt("a", "v1")}, ptr.To("v1")},
		{"vanished", []svEntry{entryAt("b", "v1"), entryAt("a", "v1")}, nil, taking("a", "b"), []svEntry{entryAt("a", "v1")}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old := svStatus{StorageVersions: tc.old}
			before := old.DeepCopy()
			got := merge(&old, "b", tc.own, tc.participants, epoch)
			want := svStatus{StorageVersions: tc.want, CommonEncodingVersion: tc.agreed, Conditions: got.Conditions}
			if !sameStatus(&got, &want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			if !sameStatus(&old, before) {
				t.Error("the old status was changed")
			}
			if errs := ValidateStatus(&got); len(errs) > 0 {
				t.Errorf("invalid: %v", errs)
			}
			again := merge(&got, "b", tc.own, tc.participants, epoch.Add(time.Hour))
			if !sameStatus(&got, &again) {
				t.Errorf("merging again changes %+v\nto %+v", got, again)
			}
		})
	}
}

// Servers read, join, merge and write in any order, with the version that they read as
// precondition: no entry is lost, and no version is agreed while two entries differ or a
// participant may still report.
func TestInterleavedMerges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(2, 5).Draw(t, "servers")
		type reading struct {
			rv           int
			status       svStatus
			participants Participants
		}
		var (
			stored       svStatus
			rv           int
			joined       = Participants{}
			reported     = map[string]svEntry{}
			read         = map[string]*reading{}
			now          = epoch
			idOf         = func(i int) string { return fmt.Sprintf("s%d", i) }
			serverNumber = rapid.IntRange(0, servers-1)
		)
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) { joined[idOf(serverNumber.Draw(t, "server"))] = false },
			"leave": func(t *rapid.T) {
				id := idOf(serverNumber.Draw(t, "server"))
				delete(joined, id)
				delete(reported, id)
				delete(read, id)
			},
			"read object": func(t *rapid.T) {
				if id := idOf(serverNumber.Draw(t, "server")); joined.Has(id) {
					read[id] = &reading{rv: rv, status: *stored.DeepCopy()}
				}
			},
			"read participants": func(t *rapid.T) {
				if r := read[idOf(serverNumber.Draw(t, "server"))]; r != nil {
					r.participants = Participants{}
					for id, registered := range joined {
						r.participants[id] = registered
					}
				}
			},
			"write": func(t *rapid.T) {
				id := idOf(serverNumber.Draw(t, "server"))
				r := read[id]
				if r == nil || r.participants == nil {
					t.Skip("nothing read")
				}
				delete(read, id)
				if r.rv != rv {
					return // conflict
				}
				now = now.Add(time.Second)
				entry := entryAt(id, rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "version"))
				stored = merge(&r.status, id, []svEntry{entry}, r.participants, now)
				rv++
				reported[id] = entry
				for other := range r.participants {
					if _, ok := reported[other]; !ok && joined.Has(other) && stored.CommonEncodingVersion != nil {
						t.Fatalf("agreement although %s may still report", other)
					}
				}
			},
			"collect": func(t *rapid.T) {
				// Two reads and a write in one step; those of servers come between.
				sv := &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(epoch)}, Status: *stored.DeepCopy()}
				now = now.Add(time.Minute)
				switch c := Collect(sv, joined, now); c.Action {
				case Update:
					stored, rv = c.Status, rv+1
				case Delete:
					stored, rv = svStatus{}, rv+1
				case Keep:
				}
			},
			"": func(t *rapid.T) {
				if errs := ValidateStatus(&stored); len(errs) > 0 {
					t.Fatalf("invalid: %v", errs)
				}
				for id, entry := range reported {
					if got := ownEntries(&stored, id); len(got) != 1 || got[0].EncodingVersion != entry.EncodingVersion {
						t.Fatalf("the entry of %s became %v", id, got)
					}
				}
			},
		})
	})
}

func TestCollect(t *testing.T) {
	settled := merge(&svStatus{}, "a", []svEntry{entryAt("a", "v1")}, taking("a"), epoch)
	two := merge(&settled, "b", []svEntry{entryAt("b", "v2")}, taking("a", "b"), epoch)
	for _, tc := range []struct {
		name         string
		status       svStatus
		participants Participants
		age          time.Duration
		defects      defects.Set
		want         Action
		entries      int
		agreed       *string
		recheck      time.Duration
	}{
		{"nothing to do", settled, taking("a"), time.Hour, nil, Keep, 0, nil, 0},
		{"a server joined", settled, taking("a", "b"), time.Hour, nil, Update, 1, nil, 0},
		{"a server joined that does not host it", settled, Participants{"a": false, "b": true}, time.Hour, nil, Keep, 0, nil, 0},
		{"a server left", two, taking("a"), time.Hour, nil, Update, 1, ptr.To("v1"), 0},
		{"all left", two, taking("c"), 0, nil, Delete, 0, nil, 0},
		{"all left, kept by defect", two, taking("c"), 0, defects.Of(defects.SV18KeepsEmpty), Update, 0, nil, 0},
		{"never collects", two, taking("a"), time.Hour, defects.Of(defects.SV16NeverCollects), Keep, 0, nil, 0},
		{"disagreement kept by defect", two, taking("a"), time.Hour, defects.Of(defects.SV16KeepsDisagreement), Update, 1, nil, 0},
		{"just created", svStatus{}, taking("a"), EmptyGrace / 3, nil, Keep, 0, nil, EmptyGrace - EmptyGrace/3},
		{"created and left", svStatus{}, taking("a"), EmptyGrace, nil, Delete, 0, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sv := &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(epoch)}, Status: tc.status}
			got := PlantCollect(tc.defects)(sv, tc.participants, epoch.Add(tc.age))
			if got.Action != tc.want || got.Recheck != tc.recheck {
				t.Fatalf("got %+v", got)
			}
			if got.Action == Update && (len(got.Status.StorageVersions) != tc.entries || !sameVersion(got.Status.CommonEncodingVersion, tc.agreed)) {
				t.Errorf("got %+v", got.Status)
			}
		})
	}
}

func TestStanding(t *testing.T) {
	const duration = 10 * time.Second
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	var s standing
	if !errors.Is(s.check(at(0), duration), errNotJoined) {
		t.Error("a server begins outside")
	}
	if _, err := s.registration(at(0), duration); !errors.Is(err, errNotJoined) {
		t.Error("registered without joining")
	}
	s = s.joined(at(0))
	if !errors.Is(s.check(at(1), duration), errNotRegistered) {
		t.Error("joined is not registered")
	}
	s, err := s.registration(at(1), duration)
	if err != nil || s.check(at(9), duration) != nil {
		t.Error("must be open", err)
	}
	if !errors.Is(s.check(at(10), duration), errLapsed) {
		t.Error("fenced by the time alone")
	}
	renewed, err := s.renewal(at(8), at(9), duration)
	if err != nil || renewed.check(at(17), duration) != nil || !errors.Is(renewed.check(at(18), duration), errLapsed) {
		t.Error("a renewal counts from its start", err)
	}
	late, err := s.renewal(at(8), at(10), duration)
	if !errors.Is(err, errLapsed) || !errors.Is(late.check(at(10), duration), errNotJoined) {
		t.Error("a late renewal does not heal", err)
	}
	if _, err := standing.joined(standing{}, at(0)).registration(at(10), duration); !errors.Is(err, errLapsed) {
		t.Error("registered too late", err)
	}
}

func TestPasses(t *testing.T) {
	write := attributes{resourceRequest: true, verb: "update", group: "apps", resource: "deployments", persisted: true, namespace: "default", name: "x"}
	with := func(change func(*attributes)) attributes {
		a := write
		change(&a)
		return a
	}
	sv := with(func(a *attributes) {
		a.group, a.resource, a.namespace = "internal.apiserver.k8s.io", "storageversions", ""
	})
	lease := with(func(a *attributes) {
		a.group, a.resource, a.namespace, a.name = "coordination.k8s.io", "leases", "kube-system", "me"
	})
	for _, tc := range []struct {
		name    string
		a       attributes
		defects defects.Set
		want    bool
	}{
		{"guarded update", write, nil, false},
		{"guarded create", with(func(a *attributes) { a.verb = "create" }), nil, false},
		{"guarded patch", with(func(a *attributes) { a.verb = "patch" }), nil, false},
		{"guarded delete", with(func(a *attributes) { a.verb = "delete" }), nil, false},
		{"guarded deletecollection", with(func(a *attributes) { a.verb = "deletecollection" }), nil, false},
		{"guarded by loopback", with(func(a *attributes) { a.loopback, a.own = true, true }), nil, false},
		{"path", attributes{verb: "post"}, nil, true},
		{"get", with(func(a *attributes) { a.verb = "get" }), nil, true},
		{"list", with(func(a *attributes) { a.verb = "list" }), nil, true},
		{"watch", with(func(a *attributes) { a.verb = "watch" }), nil, true},
		{"review, custom, aggregated", with(func(a *attributes) { a.persisted = false }), nil, true},
		{"storage version by loopback", with(func(a *attributes) { *a = sv; a.loopback = true }), nil, true},
		{"storage version by another", sv, nil, false},
		{"own lease by loopback", with(func(a *attributes) { *a = lease; a.loopback = true }), nil, true},
		{"own lease by another", lease, nil, false},
		{"own lease elsewhere", with(func(a *attributes) { *a = lease; a.loopback = true; a.namespace = "default" }), nil, false},
		{"other lease by loopback", with(func(a *attributes) { *a = lease; a.loopback = true; a.name = "you" }), nil, false},
		{"lease created by the manager", with(func(a *attributes) { *a = lease; a.loopback, a.own = true, true; a.verb, a.name = "create", "" }), nil, true},
		{"lease created by a controller", with(func(a *attributes) { *a = lease; a.loopback = true; a.verb, a.name = "create", "" }), nil, false},
		{"lease of another deleted by the manager", with(func(a *attributes) { *a = lease; a.loopback, a.own = true, true; a.verb, a.name = "delete", "you" }), nil, true},
		{"lease of another updated by the manager", with(func(a *attributes) { *a = lease; a.loopback, a.own = true, true; a.name = "you" }), nil, false},
		{"defect: open", write, defects.Of(defects.SV12BarrierOpen), true},
		{"defect: reads", with(func(a *attributes) { a.verb = "list" }), defects.Of(defects.SV13HoldsReads), false},
		{"defect: reviews", attributes{resourceRequest: true, verb: "create", group: "authorization.k8s.io", resource: "subjectaccessreviews"}, defects.Of(defects.SV13HoldsReviews), false},
		{"defect: reviews, not custom", attributes{resourceRequest: true, verb: "create", group: "example.com", resource: "things"}, defects.Of(defects.SV13HoldsReviews), true},
		{"defect: custom", attributes{resourceRequest: true, verb: "create", group: "example.com", resource: "things"}, defects.Of(defects.SV13HoldsCustom), false},
		{"defect: custom, not reviews", attributes{resourceRequest: true, verb: "create", group: "authentication.k8s.io", resource: "tokenreviews"}, defects.Of(defects.SV13HoldsCustom), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := plantedPasses(tc.a, "me", tc.defects); got != tc.want {
				t.Errorf("got %v", got)
			}
			if got := passes(tc.a, "me"); len(tc.defects) == 0 && got != tc.want {
				t.Errorf("got %v without defects", got)
			}
		})
	}
}

func TestLease_IsMarkedByTheProcessThatHoldsIt(t *testing.T) {
	id := identity{serverID: "me", hostname: "host", holder: "me_1", duration: 10 * time.Second}
	var lease coordinationv1.Lease
	id.claim(&lease, epoch)
	if lease.Name != "me" || lease.Namespace != "kube-system" || lease.Labels[IdentityLabel] != IdentityValue || lease.Labels[HostnameLabel] != "host" ||
		*lease.Spec.HolderIdentity != "me_1" || *lease.Spec.LeaseDurationSeconds != 10 || lease.Spec.LeaseTransitions != nil {
		t.Errorf("claimed: %+v", lease)
	}
	if Registered(&lease) {
		t.Error("registered at once")
	}
	id.mark(&lease, map[string]report{})
	if !Registered(&lease) {
		t.Error("not registered")
	}
	id.refresh(&lease, epoch.Add(time.Second))
	if !Registered(&lease) {
		t.Error("a renewal took the mark")
	}
	stranger := lease.DeepCopy()
	stranger.Spec.HolderIdentity = ptr.To("me_2")
	if Registered(stranger) {
		t.Error("the mark of another process counts")
	}
	next := identity{serverID: "me", hostname: "host", holder: "me_2", duration: 10 * time.Second}
	next.claim(&lease, epoch.Add(2*time.Second))
	if Registered(&lease) || *lease.Spec.LeaseTransitions != 1 || !lease.Spec.AcquireTime.Time.Equal(epoch.Add(2*time.Second).Truncate(time.Nanosecond)) {
		t.Errorf("taken over: %+v", lease)
	}
	worn := stranger.DeepCopy()
	worn.Spec.LeaseTransitions = ptr.To[int32](math.MaxInt32)
	if next.claim(worn, epoch); *worn.Spec.LeaseTransitions != math.MaxInt32 {
		t.Errorf("%d transitions are refused", *worn.Spec.LeaseTransitions)
	}
}

// claimed is the Lease of a server that took it over, and renewed it last at 2 s.
func claimed() coordinationv1.Lease {
	var lease coordinationv1.Lease
	for i, holder := range []string{"me_1", "me_2"} {
		identity{serverID: "me", hostname: "host", holder: holder, duration: 10 * time.Second}.claim(&lease, epoch.Add(time.Duration(2*i)*time.Second))
	}
	return lease
}

func TestLease_ExpiresByItsDurationOrItsAge(t *testing.T) {
	lease := claimed()
	if expired(&lease, 5*time.Second, epoch.Add(17*time.Second)) || !expired(&lease, 5*time.Second, epoch.Add(18*time.Second)) {
		t.Error("expires after its duration and the grace")
	}
	if blank := (&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(epoch)}}); expired(blank, 0, epoch.Add(time.Minute)) || !expired(blank, 0, epoch.Add(2*time.Hour)) {
		t.Error("a Lease that says nothing is measured by its age")
	}
}

// A Lease that has expired is removed after a while, or much later, or never.
func TestLease_IsRemovedAfterItHasExpired(t *testing.T) {
	const late, never = 300 * time.Second, time.Hour
	lease := claimed()
	end := ExpiresAt(&lease)
	for id, after := range map[defects.ID]time.Duration{"": LeaseGCGrace, defects.SV16ExpiresLate: durationOf(&lease) + late, defects.SV16KeepsLeases: never} {
		m := &Manager{decide: sound()}
		if id != "" {
			m.config.Defects = defects.Of(id)
		}
		m.plantLeases()
		if m.decide.expired(&lease, end.Add(after-time.Second)) {
			t.Errorf("%q: it is removed less than %s after it has expired", id, after)
		}
		if removed := m.decide.expired(&lease, end.Add(after+10*time.Second)); removed != (after != never) {
			t.Errorf("%q: it is removed soon after %s: %t", id, after, removed)
		}
	}
}

func TestLease_ShowsWhichServersAreGone(t *testing.T) {
	lease := claimed()
	me := *lease.DeepCopy()
	peer := *lease.DeepCopy()
	peer.Name = "peer"
	other := *lease.DeepCopy()
	other.Name, other.Labels = "leader", nil
	if gone := departed([]coordinationv1.Lease{me, peer, other}, "me", func(*coordinationv1.Lease) bool { return true }); len(gone) != 1 || gone[0].Name != "peer" {
		t.Errorf("departed: %v", gone)
	}
	lease.ResourceVersion = "7"
	seen := rival{}.observe(&lease, epoch)
	if again := seen.observe(lease.DeepCopy(), epoch.Add(10*time.Second)); again.gone(epoch.Add(10*time.Second)) || !again.gone(epoch.Add(11*time.Second)) {
		t.Error("a rival is gone once it has not renewed for longer than its duration")
	}
	lease.ResourceVersion = "8"
	if seen.observe(&lease, epoch.Add(9*time.Second)).gone(epoch.Add(11 * time.Second)) {
		t.Error("a rival that renewed is gone")
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][2]string{
		"core.pods":                    {"", "pods"},
		"networking.k8s.io.ingresses":  {"networking.k8s.io", "ingresses"},
		"apps.deployments":             {"apps", "deployments"},
		"internal.apiserver.k8s.io.sv": {"internal.apiserver.k8s.io", "sv"},
	} {
		group, resource, ok := ParseName(name)
		if !ok || [2]string{group, resource} != want || Name(group, resource) != name {
			t.Errorf("%s: %q %q %v", name, group, resource, ok)
		}
		if errs := ValidateName(name); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
	}
	for _, name := range []string{"", "pods", ".pods", "core.", "core..pods", "Core.pods", "core.Pods", "core.po_ds", "."} {
		if len(ValidateName(name)) == 0 {
			t.Errorf("%q is accepted", name)
		}
	}
	if errs := PlantValidateName(defects.Of(defects.SV02NamelessCore))("pods"); len(errs) > 0 {
		t.Errorf("the defect does not let the name in: %v", errs)
	}
}

func TestValidateStatus(t *testing.T) {
	condition := func(status apiserverinternalv1alpha1.ConditionStatus) []apiserverinternalv1alpha1.StorageVersionCondition {
		return []apiserverinternalv1alpha1.StorageVersionCondition{{Type: apiserverinternalv1alpha1.AllEncodingVersionsEqual, Status: status, Reason: "R", Message: "M"}}
	}
	agreed := func() svStatus {
		return svStatus{StorageVersions: []svEntry{entryAt("a", "v1"), entryAt("b", "v1")}, CommonEncodingVersion: ptr.To("v1"), Conditions: condition("True")}
	}
	for _, tc := range []struct {
		name    string
		change  func(*svStatus)
		defects defects.Set
		want    bool
	}{
		{"agreed", func(*svStatus) {}, nil, true},
		{"empty", func(s *svStatus) { *s = svStatus{} }, nil, true},
		{"equal but an entry is missing", func(s *svStatus) { s.CommonEncodingVersion, s.Conditions = nil, condition("False") }, nil, true},
		{"duplicate", func(s *svStatus) { s.StorageVersions[1].APIServerID = "a" }, nil, false},
		{"duplicate, defect", func(s *svStatus) { s.StorageVersions[1].APIServerID = "a" }, defects.Of(defects.SV03DuplicateEntry), true},
		{"no ID", func(s *svStatus) { s.StorageVersions[1].APIServerID = "" }, nil, false},
		{"ID that names no Lease", func(s *svStatus) { s.StorageVersions[1].APIServerID = "A b" }, nil, false},
		{"no encoding", func(s *svStatus) {
			s.StorageVersions[1].EncodingVersion, s.CommonEncodingVersion, s.Conditions = "", nil, nil
		}, nil, false},
		{"undecodable", func(s *svStatus) { s.StorageVersions[1].DecodableVersions = []string{"v2"} }, nil, false},
		{"undecodable, defect", func(s *svStatus) {
			s.StorageVersions[1].DecodableVersions, s.StorageVersions[1].ServedVersions = []string{"v2"}, nil
		}, defects.Of(defects.SV04AcceptsUndecodable), true},
		{"serves what it cannot decode", func(s *svStatus) { s.StorageVersions[0].ServedVersions = []string{"v3"} }, nil, false},
		{"version twice", func(s *svStatus) { s.StorageVersions[0].DecodableVersions = []string{"v1", "v1"} }, nil, false},
		{"false agreement", func(s *svStatus) { s.StorageVersions[1].EncodingVersion = "v2" }, nil, false},
		{"false agreement, defect", func(s *svStatus) { s.StorageVersions[1].EncodingVersion = "v2" }, defects.Of(defects.SV06AcceptsFalseAgreement), true},
		{"agreement without entries", func(s *svStatus) { s.StorageVersions = nil }, nil, false},
		{"condition twice", func(s *svStatus) { s.Conditions = append(s.Conditions, s.Conditions...) }, nil, false},
		{"condition without reason", func(s *svStatus) { s.Conditions[0].Reason = "" }, nil, false},
		{"condition without message", func(s *svStatus) { s.Conditions[0].Message = "" }, nil, false},
		{"condition with odd status", func(s *svStatus) { s.Conditions[0].Status = "Maybe" }, nil, false},
		{"condition False", func(s *svStatus) { s.Conditions = condition("False") }, nil, false},
		{"condition False, defect", func(s *svStatus) { s.Conditions = condition("False") }, defects.Of(defects.SV06InvertedCondition), true},
		{"condition absent", func(s *svStatus) { s.Conditions = nil }, nil, false},
		{"condition True", func(s *svStatus) { s.CommonEncodingVersion = nil }, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status := agreed()
			tc.change(&status)
			if errs := PlantValidateStatus(tc.defects)(&status); (len(errs) == 0) != tc.want {
				t.Errorf("got %v", errs)
			}
		})
	}
}

func TestReports(t *testing.T) {
	secrets := Resource{Resource: "secrets", Encoding: "v1", Decodable: []string{"v2", "v1"}, Served: []string{"v1"}}
	if got := reportsOf("a", secrets); len(got) != 1 || got[0].name != "core.secrets" || len(got[0].entries) != 1 || !slices.Equal(got[0].entries[0].DecodableVersions, []string{"v1", "v2"}) {
		t.Errorf("got %+v", got)
	}
	if got := plantedReports("a", secrets, defects.Of(defects.SV01SkipsAResource)); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	if got := plantedReports("a", secrets, defects.Of(defects.SV02NamelessCore)); len(got) != 2 || got[1].name != "secrets" {
		t.Errorf("got %+v", got)
	}
	if got := plantedReports("a", secrets, defects.Of(defects.SV03DuplicateEntry)); len(got[0].entries) != 2 {
		t.Errorf("got %+v", got)
	}
	if got := plantedReports("a", secrets, defects.Of(defects.SV05ServesMore)); len(got[0].entries[0].ServedVersions) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestBackoff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		failed, luck := rapid.IntRange(1, 1000).Draw(t, "failed"), rapid.Float64Range(0, 0.999).Draw(t, "luck")
		if got := backoff(failed, ConflictRetry, ConflictRetryMax, luck); got < ConflictRetry/2 || got > ConflictRetryMax {
			t.Fatalf("got %v", got)
		}
	})
}

func TestStaleView(t *testing.T) {
	status := svStatus{}
	if last := StaleAgreement("", &status); last != "" || status.CommonEncodingVersion != nil {
		t.Error("made an agreement up")
	}
	if last := StaleAgreement("v1", &status); last != "v1" || *status.CommonEncodingVersion != "v1" {
		t.Error("does not show the last one")
	}
	status.CommonEncodingVersion = ptr.To("v2")
	if last := StaleAgreement("v1", &status); last != "v2" || *status.CommonEncodingVersion != "v2" {
		t.Error("does not follow")
	}
	honest, stale := NewView(nil), NewView(defects.Of(defects.SV22StaleView))
	for _, view := range []*View{honest, stale} {
		view.Decorate(&apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Status: svStatus{CommonEncodingVersion: ptr.To("v1")}})
		list := &apiserverinternalv1alpha1.StorageVersionList{Items: []apiserverinternalv1alpha1.StorageVersion{{ObjectMeta: metav1.ObjectMeta{Name: "x"}}}}
		view.Decorate(list)
		if shown := list.Items[0].Status.CommonEncodingVersion != nil; shown != view.Wanted() {
			t.Errorf("shown: %v", shown)
		}
	}
}

// KEP-2339: a condition is True, False or Unknown.
func TestConditionIsUnknownWhileAReportIsMissing(t *testing.T) {
	one, other := reported("a", "v1"), reported("b", "v2")
	for name, test := range map[string]struct {
		entries      []apiserverinternalv1alpha1.ServerStorageVersion
		participants Participants
		want         apiserverinternalv1alpha1.ConditionStatus
	}{
		"all have reported one":            {[]apiserverinternalv1alpha1.ServerStorageVersion{one}, Participants{"a": true}, apiserverinternalv1alpha1.ConditionTrue},
		"a participant has not reported":   {[]apiserverinternalv1alpha1.ServerStorageVersion{one}, Participants{"a": true, "b": false}, apiserverinternalv1alpha1.ConditionUnknown},
		"they differ":                      {[]apiserverinternalv1alpha1.ServerStorageVersion{one, other}, Participants{"a": true, "b": true}, apiserverinternalv1alpha1.ConditionFalse},
		"they differ and another is to be": {[]apiserverinternalv1alpha1.ServerStorageVersion{one, other}, Participants{"a": true, "b": true, "c": false}, apiserverinternalv1alpha1.ConditionFalse},
	} {
		status := settle(&svStatus{}, test.entries, test.participants, epoch)
		if got := status.Conditions[0]; got.Status != test.want || got.Reason == "" || got.Message == "" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func reported(id, version string) apiserverinternalv1alpha1.ServerStorageVersion {
	return apiserverinternalv1alpha1.ServerStorageVersion{APIServerID: id, EncodingVersion: version, DecodableVersions: []string{version}}
}

// A report that was written under a membership that is over counts for none that follows:
// collectors may have removed its entry meanwhile.
func TestAnnouncementsOfAnEarlierMembershipDoNotCount(t *testing.T) {
	a := newAnnounced()
	r := report{name: "core.secrets", entries: []apiserverinternalv1alpha1.ServerStorageVersion{reported("a", "v1")}}
	before := a.present()
	a.begin()
	if err := a.note(r, before); !errors.Is(err, errOtherTerm) {
		t.Errorf("noted a report of an earlier membership: %v", err)
	}
	if version, _ := a.read(r.name); version != "" {
		t.Errorf("%s counts as announced", version)
	}
	if err := a.note(r, a.present()); err != nil {
		t.Error(err)
	}
	if version, _ := a.read(r.name); version != "v1" {
		t.Errorf("announced %q", version)
	}
}

func TestLocksKeepNoNames(t *testing.T) {
	var l locks
	first := l.lock("a")
	waits := make(chan func())
	go func() { waits <- l.lock("a") }()
	l.lock("b")()
	first()
	(<-waits)()
	if len(l.names) != 0 {
		t.Errorf("%d names are kept", len(l.names))
	}
}
