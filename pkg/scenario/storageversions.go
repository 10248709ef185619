package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

// Where StorageVersions are found at an API server.
const (
	storageVersionGroup    = "internal.apiserver.k8s.io"
	storageVersionVersion  = "v1alpha1"
	storageVersionResource = "storageversions"
)

// serverID is the identity that a member's API server reports under.
func (r *Runner) serverID(member string) string {
	for _, one := range r.cluster.Members() {
		if one.Name == member {
			return one.ServerID
		}
	}
	return ""
}

// reportedBy are the first so many StorageVersions, by name, that have an entry of
// the server.
func reportedBy(ctx context.Context, client *observe.Client, serverID string, count int) ([]string, error) {
	names, err := reporting(ctx, client, serverID)
	if err == nil && len(names) < count {
		err = notThere("", "only %d StorageVersions have an entry of %s, and %d are to be edited", len(names), serverID, count)
	}
	if err != nil {
		return nil, err
	}
	return names[:count], nil
}

// reporting are the StorageVersions that have an entry of the server, by name.
func reporting(ctx context.Context, client *observe.Client, serverID string) ([]string, error) {
	answer := client.Get(ctx, observe.GroupVersionPath(storageVersionGroup, storageVersionVersion)+"/"+storageVersionResource)
	var list apiserverinternalv1alpha1.StorageVersionList
	if !answer.OK() || json.Unmarshal(answer.Body, &list) != nil {
		return nil, refused(observe.Call{Verb: "list", Resource: storageVersionResource}, client.Member(), answer)
	}
	var names []string
	for i := range list.Items {
		if slices.ContainsFunc(list.Items[i].Status.StorageVersions, entryOf(serverID)) {
			names = append(names, list.Items[i].Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func entryOf(serverID string) func(apiserverinternalv1alpha1.ServerStorageVersion) bool {
	return func(entry apiserverinternalv1alpha1.ServerStorageVersion) bool { return entry.APIServerID == serverID }
}

// strip takes a server's entry out of a StorageVersion, as an administrator, and
// leaves the rest of it right.
func (r *Runner) strip(ctx context.Context, client *observe.Client, name, serverID string) error {
	ctx, cancel := r.within(ctx, DefineTimeout, history.AwaitedAnswer, client.Member(), "taking an entry out of the StorageVersion %s was not taken", name)
	defer cancel()
	for {
		found := client.Get(ctx, observe.GroupVersionPath(storageVersionGroup, storageVersionVersion)+"/"+storageVersionResource+"/"+name)
		object := new(apiserverinternalv1alpha1.StorageVersion)
		if found.OK() && json.Unmarshal(found.Body, object) == nil {
			if !slices.ContainsFunc(object.Status.StorageVersions, entryOf(serverID)) {
				return nil // another client has removed the entry
			}
			object.Status.StorageVersions = slices.DeleteFunc(object.Status.StorageVersions, entryOf(serverID))
			observe.Agree(&object.Status, r.Clock.Now())
			object.ManagedFields = nil
			call := observe.Call{Class: history.ClassGuarded, Verb: "update", Group: storageVersionGroup, Version: storageVersionVersion,
				Resource: storageVersionResource, Subresource: "status", Name: name, Body: object}
			answer := client.Do(ctx, call)
			switch {
			case answer.OK():
				return nil
			case answer.Code >= 400 && answer.Code < 500 && answer.Code != http.StatusConflict && answer.Code != http.StatusTooManyRequests:
				return refused(call, client.Member(), answer)
			}
		}
		if waited := r.wait(ctx, observe.RetryInterval); waited != nil {
			return fmt.Errorf("take the entry of %s out of %s: %w", serverID, name, waited)
		}
	}
}
