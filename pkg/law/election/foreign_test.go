package election_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const operatorsLease = "kube-system/operator"

// operatorCase is what a program may do with a Lease of its own, and what neither a
// candidate of a member nor a coordinator may do.
type operatorCase struct {
	id requirement.ID
	// do takes the hosts of the candidate and of the holders of the Lease, and the name that
	// the last change of the Lease gives of a coordinator; empty for none.
	do func(b *electionBuilder, candidate, holder, coordinator string) *electionBuilder
	// breach is part of what the law says of it where it is one.
	breach string
}

func operatorCases() []operatorCase {
	const s = time.Second
	// stand stores a candidate for the Lease that wants a strategy.
	stand := func(b *electionBuilder, host, strategy string) *electionBuilder {
		return b.store(history.Stored{Type: history.StoredPut, Key: candidatePrefix + "kube-system/" + host + "_1", Candidate: &history.Candidate{
			Lease: nameOf(operatorsLease), Binary: "1.2.0", Emulation: "1.2.0", Strategy: strategy, Renewed: b.wall()}})
	}
	return []operatorCase{
		{"CLE-09", func(b *electionBuilder, candidate, holder, coordinator string) *electionBuilder {
			return stand(b, candidate, oldestStrategy).storeLease(operatorsLease, history.Lease{Holder: holder + "_1", Strategy: oldestStrategy, Duration: 60}).wait(s).
				storeLease(operatorsLease, history.Lease{Holder: holder + "_2", Strategy: oldestStrategy, Duration: 60, Coordinator: coordinator})
		}, "_2 took " + operatorsLease + " from "},
		{"CLE-19", func(b *electionBuilder, candidate, holder, coordinator string) *electionBuilder {
			held := stand(b, candidate, oldestStrategy).storeLease(operatorsLease, history.Lease{Holder: holder + "_1", Duration: 60}).wait(s)
			if coordinator == "" {
				return held.deleteLease(operatorsLease)
			}
			return held.storeLease(operatorsLease, history.Lease{Holder: holder + "_2", Strategy: oldestStrategy, Duration: 60, Coordinator: coordinator})
		}, "without coordination, and "},
		{"CLE-21", func(b *electionBuilder, candidate, holder, coordinator string) *electionBuilder {
			return stand(b, candidate, thirdPartyStrategy).storeLease(operatorsLease, history.Lease{Strategy: thirdPartyStrategy}).wait(s).
				storeLease(operatorsLease, history.Lease{Holder: holder + "_1", Strategy: thirdPartyStrategy, Duration: 60, Coordinator: coordinator})
		}, operatorsLease + " was given to "},
	}
}

// A foreign program may do with its own Lease what no candidate of a member may do with
// the Lease of a member.
func TestForeign_LeasesAreTheirOwners(t *testing.T) {
	for _, c := range operatorCases() {
		t.Run(string(c.id)+" of a foreign host", func(t *testing.T) {
			c.do(controlPlane(), "elsewhere", "elsewhere", "").wait(time.Minute).ready("a", 200).expectBreaches(t, c.id)
		})
		t.Run(string(c.id)+" of a member", func(t *testing.T) {
			c.do(controlPlane(), "a", "a", "").wait(time.Minute).ready("a", 200).expectBreaches(t, c.id, c.breach)
		})
	}
}

// A Lease that a member stands for or holds is no foreign one, whatever else takes part.
func TestForeign_LeaseIsAMembersIfAMemberTakesPart(t *testing.T) {
	for _, c := range operatorCases() {
		t.Run(string(c.id)+" a candidate of a member", func(t *testing.T) {
			c.do(controlPlane(), "a", "elsewhere", "").wait(time.Minute).ready("a", 200).expectBreaches(t, c.id, c.breach)
		})
		t.Run(string(c.id)+" a holder of a member", func(t *testing.T) {
			c.do(controlPlane(), "elsewhere", "a", "").wait(time.Minute).ready("a", 200).expectBreaches(t, c.id, c.breach)
		})
	}
}

// A coordinator that says who it is in what it writes has to leave the Lease of a foreign
// program alone as well.
func TestForeign_CoordinatorIsNotTheOwner(t *testing.T) {
	for _, c := range operatorCases() {
		t.Run(string(c.id), func(t *testing.T) {
			c.do(controlPlane(), "elsewhere", "elsewhere", "a_c").wait(time.Minute).ready("a", 200).expectBreaches(t, c.id, c.breach)
		})
	}
}

// A candidate stays for half an hour after its process. Where it was there before the run, it is
// not taken for that of the process that was there too, which has one of its own.
func TestCandidate_OfAProcessThatWentBeforeTheRunIsNoMembers(t *testing.T) {
	const second = time.Second
	b := controlPlane("1.2.0", "1.2.0").manager("b", history.ProcessExited, killed).manager("b", history.ProcessStarted, "").declare("b_2", managersLease, "1.3.0").wait(second)
	began := len(b.events)
	b.ready("a", 200).wait(second)
	b = b.midway(t, began).storeCandidate("b_1", managersLease, "1.2.0", b.wall(), time.Time{})
	b.waitWithChanges(time.Minute).expectBreaches(t, "CLE-03")
}

// A candidate and a process that were both there before the run may not belong together. What the
// process declares in the run has to say what it runs.
func TestCLE01_VersionsOfWhatWasThereBeforeAreNotCompared(t *testing.T) {
	const second = time.Second
	b := controlPlane().managerOf("b", history.ProcessStarted, "", "1.3.0").declare("b_1", managersLease, "1.2.0").wait(second)
	began := len(b.events)
	b.ready("a", 200).wait(second)
	b.expectBreaches(t, "CLE-01", "says that it is \"1.2.0\"")
	b.midway(t, began).expectBreaches(t, "CLE-01")
}
