package scenario

import (
	"context"
	"errors"
	"net/http"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// ownerResource is that of what owns all that a run makes in an external cluster.
const ownerResource = "clusterroles"

// makeOwner makes what owns all that the run makes in an external cluster: when it goes, the
// cluster's garbage collector takes that along. It is a ClusterRole, since that goes at once: a
// namespace waits for discovery, and so for the APIServices that the run has made. The cluster's
// agents delete it if the harness is killed, where they may change their nodes. A control plane
// without ClusterRoles has no garbage collector either.
func (r *Runner) makeOwner(ctx context.Context) error {
	name := ownName(r.Run)
	err := r.send(ctx, r.recorders.serving(), observe.Call{Verb: "create", Group: rbacv1.GroupName, Version: "v1", Resource: ownerResource, Body: &rbacv1.ClusterRole{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{rbacv1.GroupName}, Resources: []string{ownerResource}, ResourceNames: []string{name}, Verbs: []string{"delete"}}},
	}}, http.StatusConflict)
	var not *unreached
	if errors.As(err, &not) && not.Code == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	var made metav1.PartialObjectMetadata
	err = r.ofAny(func(client *observe.Client) error {
		return read(ctx, client, observe.GroupVersionPath(rbacv1.GroupName, "v1")+"/"+ownerResource+"/"+name, &made)
	})
	if err != nil {
		return err
	}
	r.owner.Store(&metav1.OwnerReference{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole", Name: name, UID: made.UID})
	return nil
}

// bequeath has the cluster delete the owner if the harness is killed.
func (r *Runner) bequeath(ctx context.Context) error {
	owner := r.owner.Load()
	heirs, ok := r.cluster.(cluster.Bequeathing)
	if owner == nil || !ok {
		return nil
	}
	return heirs.Bequeath(ctx, ownName(r.Run), *owner)
}
