package scenario

import (
	"fmt"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// electionRequests returns what each request did in an election, and through which member.
func (h *fakeHistory) electionRequests() (out []string) {
	for _, e := range h.events {
		if e.Request != nil && e.Request.Class == history.ClassElection {
			out = append(out, fmt.Sprintf("%s %s %s", e.Member, e.Request.Election, e.Request.Name))
		}
	}
	return out
}

func TestFieldsAreWrittenToALeaseThatHasThemAndToANewOne(t *testing.T) {
	r, s, h := onShelf(t)
	if err := r.play(t.Context(), 1, &Step{Action: &LeaseFields{Member: "@cp1", CoordinatedMember: "@cp2"}}); err != nil {
		t.Fatal(err)
	}
	const kept, fresh = "kube-system/evenkeel-fields-kept", "kube-system/evenkeel-fields-new"
	want := []string{
		"cp2 fields " + kept, "cp1 fields " + kept, "cp1 fields " + kept, "cp1 delete " + kept,
		"cp1 fields " + fresh, "cp1 fields " + fresh, "cp1 delete " + fresh,
	}
	if got := h.electionRequests(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for path, object := range s.objects {
		if spec := object["spec"].(map[string]any); spec["strategy"] == nil || spec["preferredHolder"] == nil {
			t.Errorf("%s was written without the fields: %v", path, spec)
		}
	}
	if err := r.leaseFields(t.Context(), "cp1", &LeaseFields{Member: "@cp1", CoordinatedMember: "@all"}); err == nil {
		t.Error("several members can make one Lease")
	}
}

func TestALegacyHolderKnowsNothingOfCoordination(t *testing.T) {
	r, s, h := onShelf(t)
	client, err := r.client("cp1")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	now := time.Unix(1_800_000_000, 0)
	c := &crew{client: client, now: func() time.Time { return now }, step: &SimulateElection{}, lease: "evenkeel-manned"}
	c.claim(t.Context())
	for path := range s.objects {
		s.objects[path]["spec"].(map[string]any)["preferredHolder"] = "another"
	}
	c.claim(t.Context()) // it is not due
	now = now.Add(LeadRenewal)
	c.claim(t.Context())
	if got := h.electionRequests(); len(got) != 2 {
		t.Errorf("it has written %q", got)
	}
	lease := c.read(t.Context())
	if lease == nil || ptr.Deref(lease.Spec.HolderIdentity, "") != "evenkeel-manned-legacy" || lease.Spec.PreferredHolder != nil || lease.Spec.Strategy != nil {
		t.Errorf("the Lease is %v", lease)
	}
	lease.Spec.HolderIdentity = ptr.To("another")
	c.put(t.Context(), history.ElectionAbsentHolder, lease)
	now = now.Add(LeadRenewal)
	c.claim(t.Context())
	if got := c.read(t.Context()); ptr.Deref(got.Spec.HolderIdentity, "") != "another" {
		t.Error("it takes a Lease that another process holds")
	}
}

func TestWhenAnElectionIsSettled(t *testing.T) {
	c := &crew{standing: map[string]*Participant{"a": {}}}
	foreign := coordinationv1.CoordinatedLeaseStrategy("example.com/draft")
	for want, leases := range map[bool][]*coordinationv1.LeaseSpec{
		true:  {{HolderIdentity: ptr.To("a")}, {Strategy: &foreign}},
		false: {{}, {HolderIdentity: ptr.To("b")}, {Strategy: ptr.To(coordinationv1.OldestEmulationVersion)}, {HolderIdentity: ptr.To("b"), Strategy: &foreign}},
	} {
		for _, spec := range leases {
			if got := c.settled(&coordinationv1.Lease{Spec: *spec}); got != want {
				t.Errorf("%v: %v", spec, got)
			}
		}
	}
	if c.settled(nil) {
		t.Error("no Lease is settled")
	}
}
