package storageversion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// identity is what a process writes into its identity Lease.
type identity struct {
	serverID, hostname, holder string
	// peerAddress is where peers reach this server, if they are to.
	peerAddress string
	duration    time.Duration
}

// claim makes a Lease the identity Lease of this process, as of now. The mark
// of registration goes: nothing has been published under this membership yet.
func (id identity) claim(lease *coordinationv1.Lease, now time.Time) {
	lease.Name, lease.Namespace = id.serverID, LeaseNamespace
	if !id.holds(lease) {
		if lease.Spec.HolderIdentity != nil {
			// Not past the last number that there is: a count below zero would be refused.
			lease.Spec.LeaseTransitions = ptr.To(min(ptr.Deref(lease.Spec.LeaseTransitions, 0), math.MaxInt32-1) + 1)
		}
		lease.Spec.HolderIdentity = ptr.To(id.holder)
		lease.Spec.AcquireTime = ptr.To(metav1.NewMicroTime(now))
	}
	delete(lease.Annotations, RegisteredAnnotation)
	id.refresh(lease, now)
}

// refresh renews a Lease, and puts right what identifies it.
func (id identity) refresh(lease *coordinationv1.Lease, now time.Time) {
	if lease.Labels == nil {
		lease.Labels = map[string]string{}
	}
	lease.Labels[IdentityLabel] = IdentityValue
	lease.Labels[HostnameLabel] = id.hostname
	delete(lease.Annotations, PeerAddressAnnotation)
	if id.peerAddress != "" {
		if lease.Annotations == nil {
			lease.Annotations = map[string]string{}
		}
		lease.Annotations[PeerAddressAnnotation] = id.peerAddress
	}
	//nolint:gosec // G115: the duration of a Lease is far below 68 years.
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(id.duration / time.Second))
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now))
}

// mark notes in a Lease that this process has published all of its reports.
func (id identity) mark(lease *coordinationv1.Lease, reports map[string]report) {
	if lease.Annotations == nil {
		lease.Annotations = map[string]string{}
	}
	lease.Annotations[RegisteredAnnotation] = id.holder + "/" + digest(reports)
}

// holds reports whether this process holds a Lease.
func (id identity) holds(lease *coordinationv1.Lease) bool {
	return lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity == id.holder
}

// digest returns a digest of reports, so that a reader of two marks can compare whether
// the servers, or two releases of one server, published the same.
func digest(reports map[string]report) string {
	var lines []string
	for name, r := range reports {
		for _, entry := range r.entries {
			entry.APIServerID = ""
			// Strings and lists of strings always encode.
			line, _ := json.Marshal(entry)
			lines = append(lines, name+" "+string(line))
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// expired reports whether a Lease has not been renewed for its duration and a
// grace, by the wall clock: renewTime was written by another machine. A Lease
// that does not say when it was renewed or for how long is measured by when it
// was created and by the default.
func expired(lease *coordinationv1.Lease, grace time.Duration, now time.Time) bool {
	return now.After(ExpiresAt(lease).Add(grace))
}

// ExpiresAt is when a Lease ends unless it is renewed, by the clock of who
// renewed it last.
func ExpiresAt(lease *coordinationv1.Lease) time.Time {
	renewed := lease.CreationTimestamp.Time
	if lease.Spec.RenewTime != nil {
		renewed = lease.Spec.RenewTime.Time
	}
	return renewed.Add(durationOf(lease))
}

// durationOf is for how long a Lease holds after a renewal.
func durationOf(lease *coordinationv1.Lease) time.Duration {
	if seconds := ptr.Deref(lease.Spec.LeaseDurationSeconds, 0); seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return DefaultLeaseDuration
}

// rival is another process that holds our Lease, as seen on the local clock.
type rival struct {
	uid      types.UID
	version  string
	duration time.Duration
	since    time.Time
}

// observe updates what is known of a rival with its Lease as read now.
func (r rival) observe(lease *coordinationv1.Lease, now time.Time) rival {
	if r.uid == lease.UID && r.version == lease.ResourceVersion {
		return r
	}
	return rival{uid: lease.UID, version: lease.ResourceVersion, duration: durationOf(lease), since: now}
}

// gone reports whether the rival did not renew for a whole duration while we
// watched. Its own clock is not asked.
func (r rival) gone(now time.Time) bool { return now.Sub(r.since) > r.duration }
