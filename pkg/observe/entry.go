package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// AddEntry puts the entry of a server into a StorageVersion as an API server
// does with its own: it reads the object, creates it if there is none, and
// writes with the resourceVersion that it read; on a conflict it begins again.
// The new entry has the versions of the first entry of the object, or the version
// otherwise if there is none. An entry that the server already has stays as it is.
func AddEntry(ctx context.Context, client *Client, name, serverID, otherwise string, now time.Time) error {
	for {
		object, err := storageVersionOf(ctx, client, name)
		if err != nil {
			return err
		}
		entries := object.Status.StorageVersions
		if slices.ContainsFunc(entries, func(e apiserverinternalv1alpha1.ServerStorageVersion) bool { return e.APIServerID == serverID }) {
			return nil
		}
		entry := apiserverinternalv1alpha1.ServerStorageVersion{EncodingVersion: otherwise, DecodableVersions: []string{otherwise}, ServedVersions: []string{otherwise}}
		if len(entries) > 0 {
			entry = *entries[0].DeepCopy()
		}
		entry.APIServerID = serverID
		object.Status.StorageVersions = append(entries, entry)
		Agree(&object.Status, now)
		answer := client.Do(ctx, storageVersionCall("update", name, "status", object))
		switch {
		case answer.OK():
			return nil
		case answer.Code != http.StatusConflict && answer.Code != http.StatusNotFound:
			return refusal("put an entry into the StorageVersion "+name, client, answer)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// storageVersionOf reads a StorageVersion, or makes it.
func storageVersionOf(ctx context.Context, client *Client, name string) (*apiserverinternalv1alpha1.StorageVersion, error) {
	object := &apiserverinternalv1alpha1.StorageVersion{}
	for {
		answer := client.Get(ctx, storageVersionsPath+"/"+name)
		if answer.Code == http.StatusNotFound {
			made := &apiserverinternalv1alpha1.StorageVersion{ObjectMeta: metav1.ObjectMeta{Name: name}}
			identify(made)
			answer = client.Do(ctx, storageVersionCall("create", name, "", made))
			if answer.Code == http.StatusConflict && ctx.Err() == nil {
				continue // another client has created it
			}
		}
		if !answer.OK() {
			return nil, refusal("read the StorageVersion "+name, client, answer)
		}
		if err := json.Unmarshal(answer.Body, object); err != nil {
			return nil, fmt.Errorf("read the StorageVersion %s from %s: %w", name, client.Member(), err)
		}
		object.ManagedFields = nil
		identify(object)
		return object, nil
	}
}

func identify(object *apiserverinternalv1alpha1.StorageVersion) {
	object.Kind, object.APIVersion = "StorageVersion", apiserverinternalv1alpha1.SchemeGroupVersion.String()
}

func storageVersionCall(verb, name, subresource string, body any) Call {
	return Call{
		Class: history.ClassGuarded, Verb: verb, Group: apiserverinternalv1alpha1.GroupName, Version: "v1alpha1",
		Resource: storageVersionResource, Subresource: subresource, Name: name, Body: body,
	}
}

// Agree has a status call agreed what its entries agree on; a condition that it does
// not have yet begins now.
func Agree(status *apiserverinternalv1alpha1.StorageVersionStatus, now time.Time) {
	if !slices.ContainsFunc(status.Conditions, func(c apiserverinternalv1alpha1.StorageVersionCondition) bool {
		return c.Type == apiserverinternalv1alpha1.AllEncodingVersionsEqual
	}) {
		status.Conditions = append(status.Conditions, apiserverinternalv1alpha1.StorageVersionCondition{
			Type: apiserverinternalv1alpha1.AllEncodingVersionsEqual, LastTransitionTime: metav1.NewTime(now),
		})
	}
	agree(status, commonOf(status.StorageVersions))
}

func refusal(what string, client *Client, answer Answer) error {
	return &Refusal{What: what, Member: client.Member(), Answer: answer}
}

// Refusal is the error of a request that a member's API server did not do, or did not
// answer.
type Refusal struct {
	// What was asked for, in words.
	What   string
	Member string
	Answer Answer
}

// Error says what was asked for, and what came of it.
func (r *Refusal) Error() string {
	if r.Answer.Err != nil {
		return fmt.Sprintf("%s through %s: %v", r.What, r.Member, r.Answer.Err)
	}
	return fmt.Sprintf("%s through %s: it answered %d %s", r.What, r.Member, r.Answer.Code, r.Answer.Message)
}

// Unwrap gives why there was no answer, if there was none.
func (r *Refusal) Unwrap() error { return r.Answer.Err }
