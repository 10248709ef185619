package observe

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// foreignVersion is the version that the flaws are made with: a well-formed
// one that no server uses.
const foreignVersion = "v0evenkeel1"

// ProbeInvalidStatus sends the StorageVersion statuses that a server must
// refuse, each with one flaw only, and one without any that it must accept, as
// a dry run: nothing is changed whatever the server answers. What it refused as
// a dry run it is then sent for good, because it may look at the two with
// different eyes: only a server that breaks its promise is changed by that. It
// takes the StorageVersion that the turn points at of those that have entries;
// where there is none, or where the list is refused, nothing is sent, and the
// checks notice that a member was not probed.
func ProbeInvalidStatus(ctx context.Context, client *Client, turn int) {
	var list apiserverinternalv1alpha1.StorageVersionList
	if getInto(ctx, client, storageVersionsPath, &list) != nil {
		return
	}
	var names []string
	for i := range list.Items {
		if len(list.Items[i].Status.StorageVersions) > 0 {
			names = append(names, list.Items[i].Name)
		}
	}
	if len(names) == 0 {
		return
	}
	name := names[turn%len(names)]
	for _, flaw := range []string{"", history.InvalidUndecodable, history.InvalidAgreement, history.InvalidDuplicate} {
		if insist(ctx, client, name, flaw, false) == http.StatusUnprocessableEntity && flaw != "" {
			insist(ctx, client, name, flaw, true)
		}
	}
}

// insist sends a status until it is not refused for the reason alone that the
// object had changed meanwhile, so that the flaw was not looked at; it gives the
// last answer's code.
func insist(ctx context.Context, client *Client, name, flaw string, lasting bool) (code int) {
	for range InvalidAttempts {
		if code = sendStatus(ctx, client, name, flaw, lasting); code != http.StatusConflict {
			break
		}
	}
	return code
}

// sendStatus gives the code of the answer, 0 where nothing could be sent.
func sendStatus(ctx context.Context, client *Client, name, flaw string, lasting bool) (code int) {
	answer := client.Get(ctx, storageVersionsPath+"/"+name)
	object := new(apiserverinternalv1alpha1.StorageVersion)
	if answer.Code != http.StatusOK || json.Unmarshal(answer.Body, object) != nil || len(object.Status.StorageVersions) == 0 {
		return 0
	}
	var query url.Values
	if !lasting {
		query = url.Values{"dryRun": {metav1.DryRunAll}}
	}
	object.ManagedFields = nil
	object.Kind, object.APIVersion = "StorageVersion", apiserverinternalv1alpha1.SchemeGroupVersion.String()
	spoil(&object.Status, flaw)
	answer = client.Do(ctx, Call{
		Class:       history.ClassInvalid,
		Verb:        "update",
		Group:       apiserverinternalv1alpha1.GroupName,
		Version:     "v1alpha1",
		Resource:    storageVersionResource,
		Subresource: "status",
		Name:        name,
		Query:       query,
		Body:        object,
		Invalid:     flaw,
		Lasting:     lasting,
	})
	return answer.Code
}

// spoil gives a valid status the one flaw, and leaves all the rest right: what
// is agreed upon stays what the entries then say, except where that is the flaw.
func spoil(status *apiserverinternalv1alpha1.StorageVersionStatus, flaw string) {
	switch flaw {
	case history.InvalidUndecodable:
		entry := &status.StorageVersions[0]
		entry.EncodingVersion = foreignVersion
		agree(status, commonOf(status.StorageVersions))
	case history.InvalidAgreement:
		if len(status.StorageVersions) == 1 {
			other := status.StorageVersions[0]
			other.APIServerID = "evenkeel-probe"
			status.StorageVersions = append(status.StorageVersions, other)
		}
		agreed := status.StorageVersions[0].EncodingVersion
		last := &status.StorageVersions[len(status.StorageVersions)-1]
		last.EncodingVersion = foreignVersion
		last.DecodableVersions = append(append([]string{}, last.DecodableVersions...), foreignVersion)
		agree(status, &agreed)
	case history.InvalidDuplicate:
		status.StorageVersions = append(status.StorageVersions, status.StorageVersions[0])
	}
}

// agree sets the agreed version, and the condition that tells of it.
func agree(status *apiserverinternalv1alpha1.StorageVersionStatus, common *string) {
	status.CommonEncodingVersion = common
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		if condition.Type != apiserverinternalv1alpha1.AllEncodingVersionsEqual {
			continue
		}
		condition.Status, condition.Reason, condition.Message = apiserverinternalv1alpha1.ConditionTrue, "CommonEncodingVersionSet", "Common encoding version set"
		if common == nil {
			condition.Status, condition.Reason, condition.Message = apiserverinternalv1alpha1.ConditionFalse, "CommonEncodingVersionUnset", "Common encoding version unset"
		}
	}
}

func commonOf(entries []apiserverinternalv1alpha1.ServerStorageVersion) *string {
	if len(entries) == 0 {
		return nil
	}
	for _, entry := range entries {
		if entry.EncodingVersion != entries[0].EncodingVersion {
			return nil
		}
	}
	common := entries[0].EncodingVersion
	return &common
}
