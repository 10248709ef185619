package scenario

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// makeOwner makes the namespace of the run in an external cluster, which owns all that the run
// makes outside of it: when it goes, the cluster's garbage collector takes that along. Its agents
// delete it if the harness is killed, where they may change their nodes.
func (r *Runner) makeOwner(ctx context.Context) error {
	name := ownName(r.Run)
	if err := r.makeNamespace(ctx, r.recorders.serving(), name); err != nil {
		return err
	}
	var made metav1.PartialObjectMetadata
	err := r.ofAny(func(client *observe.Client) error {
		return read(ctx, client, "/api/v1/"+namespaces+"/"+name, &made)
	})
	if err != nil {
		return err
	}
	r.owner.Store(&metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: name, UID: made.UID})
	if heirs, ok := r.cluster.(cluster.Bequeathing); ok {
		return heirs.Bequeath(ctx, name, made.UID)
	}
	return nil
}
