package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// guestLease is how long a guest's identity Lease holds. It is longer than any
// run, so that a guest need not renew it.
const guestLeaseSeconds = 3600 * 24

func (g *SimulatedServer) validate() error {
	if len(validation.IsDNS1123Label(g.Name)) > 0 || harnessServer+g.Name == nobody {
		return fmt.Errorf("%q is no name for a guest: it must be a short DNS label, and not that of nobody", g.Name)
	}
	for _, name := range g.StorageVersions {
		if group, resource := parted(name); group == "" || resource == "" {
			return fmt.Errorf("%q is not <group or core>.<resource>", name)
		}
	}
	return nil
}

// simulatedServer joins, unless it has, and then reports: KEP-2339 has a server establish
// its membership before it publishes anything.
func (r *Runner) simulatedServer(ctx context.Context, member string, simulatedServer *SimulatedServer) error {
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	id := harnessServer + simulatedServer.Name
	now := r.Clock.Now()
	call := leaseCall("create", id)
	call.Body = &coordinationv1.Lease{
		TypeMeta: metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Name: id, Namespace: leaseNamespace, Labels: map[string]string{
			"apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": simulatedServer.Name,
		}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(id + "_" + r.Run), LeaseDurationSeconds: ptr.To[int32](guestLeaseSeconds),
			AcquireTime: ptr.To(metav1.NewMicroTime(now)), RenewTime: ptr.To(metav1.NewMicroTime(now)),
		},
	}
	if err := r.send(ctx, member, call, http.StatusConflict); err != nil {
		return err
	}
	for _, name := range simulatedServer.StorageVersions {
		if err := observe.AddEntry(ctx, client, name, id, inventedVersion(name), r.Clock.Now()); err != nil {
			return err
		}
	}
	return nil
}

// waitForHits waits for requests that a fault has hit.
func (r *Runner) waitForHits(ctx context.Context, waitForHits *WaitForHits) error {
	injected := r.active[waitForHits.Fault]
	if len(injected) == 0 {
		return fmt.Errorf("the fault %s is not there to be met", waitForHits.Fault)
	}
	since := r.History.Now()
	bounded, cancel := context.WithTimeoutCause(ctx, HitsTimeout, errNotMet)
	defer cancel()
	for _, one := range injected {
		err := one.Met(bounded, max(1, waitForHits.Requests, waitForHits.Completed), waitForHits.Completed)
		switch {
		case errors.Is(err, errNotMet):
			r.passOver(ctx, since, HitsTimeout, history.AwaitedState, one.Member, "the fault %s has not met as many requests as the step waits for", waitForHits.Fault)
		case err != nil:
			return err
		}
	}
	return nil
}

// errNotMet: nobody asked for what the fault is about.
var errNotMet = errors.New("the fault met no request")
