package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe"
	"github.com/evenkeel/evenkeel/pkg/registry"
)

// Tamper changes or deletes objects of the control plane, as an administrator could through
// one member's API server.
type Tamper struct {
	Member string `yaml:"member"`
	// DeleteStorageVersions names StorageVersions to delete, as <group or core>.<resource>.
	DeleteStorageVersions []string `yaml:"deleteStorageVersions,omitempty"`
	// DeleteIdentityLeases selects the members whose identity Leases the step deletes, as an
	// administrator does for a server that will not come back.
	DeleteIdentityLeases []string `yaml:"deleteIdentityLeases,omitempty"`
	// AddUnknownServer names StorageVersions to which the step adds the entry of a server
	// that does not exist; it creates a StorageVersion that does not exist.
	AddUnknownServer []string `yaml:"addUnknownServer,omitempty"`
}

var _ = register("tamper", func() Action { return &Tamper{} }, registry.Fields{
	"member":                oneMember,
	"deleteStorageVersions": stored,
	"deleteIdentityLeases":  registry.SomeMembers().List(0, 3),
	"addUnknownServer":      stored,
}, cluster.ChangesControlPlane)

func (t *Tamper) selectors() []string { return []string{t.Member} }

func (t *Tamper) check(r *Runner) error {
	_, err := r.selectable(t.DeleteIdentityLeases)
	return err
}

func (t *Tamper) play(ctx context.Context, r *Runner, at target) error {
	return r.tamper(ctx, at.one(), t)
}

const (
	// harnessServer begins the IDs of servers that the harness makes up; API
	// servers have names that begin with the same word.
	harnessServer = "apiserver-evenkeel-"
	// unknownServer is the ID of a server that has never existed.
	unknownServer = harnessServer + "unknown"

	leaseGroup, leaseNamespace = "coordination.k8s.io", "kube-system"
)

// validate says what is wrong with a Tamper.
func (t *Tamper) validate() error {
	return errors.Join(missing("member", t.Member), t.fieldsProblem())
}

// fieldsProblem says what is wrong with its other fields.
func (t *Tamper) fieldsProblem() error {
	if len(t.DeleteStorageVersions)+len(t.DeleteIdentityLeases)+len(t.AddUnknownServer) == 0 {
		return errors.New("needs one of deleteStorageVersions, deleteIdentityLeases and addUnknownServer")
	}
	for _, name := range t.AddUnknownServer {
		if group, resource := parted(name); group == "" || resource == "" {
			return fmt.Errorf("%q is not <group or core>.<resource>", name)
		}
	}
	return nil
}

// parted gives the two parts of a StorageVersion's name.
func parted(name string) (group, resource string) {
	at := strings.LastIndex(name, ".")
	if at < 0 {
		return "", name
	}
	return name[:at], name[at+1:]
}

// tamper does what an administrator can do to what the servers have published.
func (r *Runner) tamper(ctx context.Context, member string, tamper *Tamper) error {
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, name := range tamper.DeleteStorageVersions {
		// A control plane may have lost one by itself, which is for checks to judge.
		call := observe.Call{Group: storageVersionGroup, Version: storageVersionVersion, Resource: storageVersionResource, Name: name}
		call.Verb = "delete"
		if err := r.send(ctx, member, call, http.StatusNotFound); err != nil {
			return err
		}
	}
	departed, err := r.selected(ctx, tamper.DeleteIdentityLeases)
	if err != nil {
		return err
	}
	for _, name := range departed {
		// A server that stops in good order may have taken its Lease away itself.
		if err := r.send(ctx, member, leaseCall("delete", r.serverID(name)), http.StatusNotFound); err != nil {
			return err
		}
	}
	for _, name := range tamper.AddUnknownServer {
		if err := observe.AddEntry(ctx, client, name, unknownServer, inventedVersion(name), r.Clock.Now()); err != nil {
			return err
		}
	}
	// What is told while it is done is the harness' doing. Were the control plane restarted
	// before etcd has told, all would be told when it is back, and look like its own.
	_, err = r.catchUp(ctx)
	return err
}

// inventedVersion returns the version in which a resource is stored that no API server has
// reported.
func inventedVersion(name string) string {
	group, _ := parted(name)
	if group == "core" {
		return "v1"
	}
	return group + "/v1"
}

func leaseCall(verb, name string) observe.Call {
	return observe.Call{Verb: verb, Group: leaseGroup, Version: "v1", Resource: "leases", Namespace: leaseNamespace, Name: name}
}
