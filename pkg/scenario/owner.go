package scenario

import (
	"context"
	"errors"
	"net/http"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// ownerResource is that of what owns all that a run makes in an external cluster.
const ownerResource = "clusterroles"

// ensureOwner makes what owns all that the run makes in an external cluster, before it makes the
// first of it: when the owner goes, the cluster's garbage collector takes the rest along. It is a
// ClusterRole, since that goes at once: a namespace waits for discovery, and so for the APIServices
// that the run has made. Where the credentials may not make one, or the control plane has none, what
// a run leaves that is killed has nothing but its label.
func (r *Runner) ensureOwner(ctx context.Context) error {
	if r.foreign == nil {
		return nil
	}
	r.owning.Lock()
	defer r.owning.Unlock()
	if r.ownerless || r.owner.Load() != nil {
		return nil
	}
	name := ownName(r.Run)
	call := observe.Call{Class: history.ClassGuarded, Verb: "create", Group: rbacv1.GroupName, Version: "v1", Resource: ownerResource, Name: name, Body: &rbacv1.ClusterRole{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{rbacv1.GroupName}, Resources: []string{ownerResource}, ResourceNames: []string{name}, Verbs: []string{"delete"}}},
	}}
	err := r.ofAny(func(client *observe.Client) error {
		if answer := client.Do(ctx, call); !answer.OK() && answer.Code != http.StatusConflict {
			return refused(call, client.Member(), answer)
		}
		return nil
	})
	var not *unreached
	if errors.As(err, &not) && (not.Code == http.StatusNotFound || not.Code == http.StatusForbidden) {
		r.ownerless = true
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
	if err := r.bequeath(ctx, *r.owner.Load()); err != nil {
		r.report(0, "prerequisites", "", "", history.PhaseFailed, err.Error())
	}
	return nil
}

// bequeath has the cluster delete the owner if the harness is killed. That is arranged before
// anything is made that disturbs users: an APIService whose server is gone, or a policy that denies
// writes.
func (r *Runner) bequeath(ctx context.Context, owner metav1.OwnerReference) error {
	heirs, ok := r.cluster.(cluster.Bequeathing)
	if !ok || !heirs.Bequeaths() {
		return nil
	}
	name := ownName(r.Run)
	r.made.note(observe.Call{Version: "v1", Resource: namespaces, Name: name})
	call := creationOf(name)
	call.Class = history.ClassGuarded
	err := r.ofAny(func(client *observe.Client) error {
		if answer := client.Do(ctx, call); !answer.OK() && answer.Code != http.StatusConflict {
			return refused(call, client.Member(), answer)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return heirs.Bequeath(ctx, name, owner)
}
