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

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// SimulatedServer adds a server of the harness that publishes storage versions as API servers
// do: it creates an identity Lease, and then adds its entries to StorageVersions. The server
// stays until the end of the run.
type SimulatedServer struct {
	// Member is the member to whose API server the simulated server sends its requests.
	Member string `yaml:"member"`
	// Name is the name of the simulated server.
	Name string `yaml:"name"`
	// StorageVersions names the objects to add an entry to; the step creates an object that
	// does not exist.
	StorageVersions []string `yaml:"storageVersions,omitempty"`
}

var _ = register("simulatedServer", func() Action { return &SimulatedServer{} }, registry.Fields{"member": oneMember, "name": registry.Names(namesSimulatedServer), "storageVersions": stored}, cluster.ChangesControlPlane)

func (g *SimulatedServer) selectors() []string { return []string{g.Member} }

func (g *SimulatedServer) play(ctx context.Context, r *Runner, at target) error {
	return r.simulatedServer(ctx, at.one(), g)
}

// guestLease is how long a guest's identity Lease holds. It is longer than any
// run, so that a guest need not renew it.
const guestLeaseSeconds = 3600 * 24

func (g *SimulatedServer) validate() error {
	return errors.Join(missing("member", g.Member), g.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (g *SimulatedServer) fieldsProblem() error {
	if len(validation.IsDNS1123Label(g.Name)) > 0 || harnessServer+g.Name == unknownServer {
		return fmt.Errorf("%q is no name for a simulated server: it must be a short DNS label, and %s must not exist", g.Name, unknownServer)
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
