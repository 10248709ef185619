package observe

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// WriteAnnotation is set on every object that the harness writes, to a Tag.
const WriteAnnotation = "evenkeel.dev/write"

// identityLabel marks the Lease by which an API server takes part.
const identityLabel = "apiserver.kubernetes.io/identity"

// protobufMagic begins every value that Kubernetes stores as protobuf.
var protobufMagic = []byte("k8s\x00")

// Tag is the value of WriteAnnotation: who wrote, and the number of the write,
// which that member never uses twice in a run.
func Tag(member string, write int64) string {
	return member + "/" + strconv.FormatInt(write, 10)
}

// ParseTag undoes Tag; ok is false for anything that is no tag.
func ParseTag(tag string) (member string, write int64, ok bool) {
	member, number, found := strings.Cut(tag, "/")
	if !found || member == "" {
		return "", 0, false
	}
	write, err := strconv.ParseInt(number, 10, 64)
	if err != nil || write <= 0 {
		return "", 0, false
	}
	return member, write, true
}

// storedObject is what is read from the bytes of one stored value. Of the
// content only StorageVersions, Leases and their candidates, what leaders say that
// they did, StorageVersionMigrations and what matters of CustomResourceDefinitions
// are kept, so that no secret can ever reach a
// history.
type storedObject struct {
	apiVersion, kind string
	name             string
	tag              string
	deleting         bool
	protected        bool
	storageVersion   *history.StorageVersion
	lease            *history.Lease
	migration        *history.Migration
	customResource   *history.CustomResource
	candidate        *history.Candidate
	acted            *history.LeaderAction
	// leaderActions are the leaders that have written to it, where it is there to show them.
	leaderActions []history.LeaderAction
	// metadata is the digest of an object that has a tag.
	metadata string
	managed  map[string]string
	// content is the digest of what it holds beside its metadata.
	content string
}

// decodeStored reads a value as Kubernetes stores it: JSON, or protobuf in its
// envelope. Anything else (encrypted values, plain numbers) gives the zero
// storedObject.
func decodeStored(value []byte) storedObject {
	e, ok := decodeEnvelope(value)
	if !ok {
		return storedObject{}
	}
	var object storedObject
	meta := e.meta
	object.apiVersion, object.kind = meta.APIVersion, meta.Kind
	object.name = QualifiedName(meta.Namespace, meta.Name)
	object.deleting = meta.DeletionTimestamp != nil
	object.protected = slices.Contains(meta.Finalizers, protection)
	fields := meta.ManagedFields
	object.leaderActions = leaderActions(meta.Namespace, fields)
	if object.tag = meta.Annotations[WriteAnnotation]; object.tag != "" {
		object.managed = managed(meta.ManagedFields)
		meta.ResourceVersion, meta.ManagedFields = "", nil
		object.metadata = digest(meta.ObjectMeta)
		object.content = e.digest()
	}

	object.acted = acted(meta.Annotations)
	object.decodeContent(e, fields)
	return object
}

// protection is the finalizer that kube-controller-manager adds to VolumeAttributesClasses, unless its
// controller for that is switched off, and adds again whenever a client has replaced the object without it.
const protection = "kubernetes.io/vac-protection"

// encoded is an object as it is stored, of which only the metadata have been decoded.
type encoded struct {
	meta metav1.PartialObjectMetadata
	// raw is JSON, or protobuf without its envelope.
	raw      []byte
	protobuf bool
}

// decodeEnvelope decodes the metadata of a stored value. It is false for values that are
// neither JSON nor protobuf, such as encrypted ones.
func decodeEnvelope(value []byte) (e encoded, ok bool) {
	raw, found := bytes.CutPrefix(value, protobufMagic)
	if !found {
		e.raw = value
		return e, len(value) > 0 && value[0] == '{' && json.Unmarshal(value, &e.meta) == nil
	}
	var envelope runtime.Unknown
	if envelope.Unmarshal(raw) != nil || e.meta.Unmarshal(envelope.Raw) != nil {
		return encoded{}, false
	}
	e.meta.APIVersion, e.meta.Kind = envelope.APIVersion, envelope.Kind
	e.raw, e.protobuf = envelope.Raw, true
	return e, true
}

// decode decodes the whole object into its type.
func (e *encoded) decode(into interface{ Unmarshal([]byte) error }) error {
	if e.protobuf {
		return into.Unmarshal(e.raw)
	}
	return json.Unmarshal(e.raw, into)
}

// digest is that of what the object holds beside its metadata.
func (e *encoded) digest() string {
	if e.protobuf {
		return digestOfProtobuf(e.raw)
	}
	return digestOfJSON(e.raw)
}

// decodeContent decodes the kinds that the requirements are about. An object that does not
// decode keeps its metadata.
func (object *storedObject) decodeContent(e encoded, fields []metav1.ManagedFieldsEntry) {
	meta := &e.meta
	group, _, _ := strings.Cut(meta.APIVersion, "/")
	switch {
	case group == apiserverinternalv1alpha1.GroupName && meta.Kind == "StorageVersion":
		stored := new(apiserverinternalv1alpha1.StorageVersion)
		if e.decode(stored) == nil {
			object.storageVersion = storageVersion(stored)
		}
	case group == coordinationv1.GroupName && meta.Kind == "Lease":
		stored := new(coordinationv1.Lease)
		if e.decode(stored) == nil {
			object.lease = lease(stored, fields)
		}
	case group == coordinationv1.GroupName && meta.Kind == "LeaseCandidate":
		// v1alpha2 and v1beta1 have the same fields.
		stored := new(coordinationv1beta1.LeaseCandidate)
		if e.decode(stored) == nil {
			object.candidate = candidate(stored, fields)
		}
	case group == storagemigrationv1.GroupName && meta.Kind == "StorageVersionMigration":
		// v1 and v1beta1 have the same fields; those of v1alpha1 differ, and no
		// release of today reads it.
		stored := new(storagemigrationv1.StorageVersionMigration)
		if !strings.HasSuffix(meta.APIVersion, "/v1alpha1") && e.decode(stored) == nil {
			object.migration = migration(stored)
		}
	case group == apiextensionsv1.GroupName && meta.Kind == "CustomResourceDefinition":
		stored := new(apiextensionsv1.CustomResourceDefinition)
		if e.decode(stored) == nil {
			object.customResource = customResource(stored)
		}
	}
}

// digestLength is how many characters of a digest are kept: enough to tell one
// state of an object from another.
const digestLength = 16

// managed gives a digest of the managed fields of each version.
func managed(entries []metav1.ManagedFieldsEntry) map[string]string {
	byVersion := map[string][]metav1.ManagedFieldsEntry{}
	for _, entry := range entries {
		byVersion[entry.APIVersion] = append(byVersion[entry.APIVersion], entry)
	}
	out := map[string]string{}
	for version, of := range byVersion {
		out[version] = digest(of)
	}
	return out
}

// digest names what something says.
func digest(what any) string {
	raw, err := json.Marshal(what)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])[:digestLength]
}

func migration(in *storagemigrationv1.StorageVersionMigration) *history.Migration {
	out := &history.Migration{Group: in.Spec.Resource.Group, Resource: in.Spec.Resource.Resource, Checkpoint: in.Status.ResourceVersion}
	for _, condition := range in.Status.Conditions {
		out.Conditions = append(out.Conditions, history.Condition{
			Type:       condition.Type,
			Status:     string(condition.Status),
			Transition: condition.LastTransitionTime.UTC(),
			Reason:     condition.Reason,
			Message:    shorten(condition.Message),
		})
	}
	return out
}

func customResource(in *apiextensionsv1.CustomResourceDefinition) *history.CustomResource {
	out := &history.CustomResource{Group: in.Spec.Group, Resource: in.Spec.Names.Plural, Stored: in.Status.StoredVersions, Generation: in.Generation}
	for i := range in.Spec.Versions {
		if in.Spec.Versions[i].Storage {
			out.Storage = in.Spec.Versions[i].Name
		}
		if in.Spec.Versions[i].Served {
			out.Served = append(out.Served, in.Spec.Versions[i].Name)
		}
	}
	out.Webhook = in.Spec.Conversion != nil && in.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
	out.Established = apihelpers.IsCRDConditionTrue(in, apiextensionsv1.Established)
	if migrating := apihelpers.FindCRDCondition(in, apiextensionsv1.StorageMigrating); migrating != nil {
		out.Migrating = string(migrating.Status)
	}
	return out
}

func storageVersion(in *apiserverinternalv1alpha1.StorageVersion) *history.StorageVersion {
	out := &history.StorageVersion{Common: in.Status.CommonEncodingVersion}
	for _, entry := range in.Status.StorageVersions {
		out.Entries = append(out.Entries, history.Entry{
			ServerID:  entry.APIServerID,
			Encoding:  entry.EncodingVersion,
			Decodable: entry.DecodableVersions,
			Served:    entry.ServedVersions,
		})
	}
	for _, condition := range in.Status.Conditions {
		out.Conditions = append(out.Conditions, history.Condition{
			Type:       string(condition.Type),
			Status:     string(condition.Status),
			Transition: condition.LastTransitionTime.UTC(),
			Reason:     condition.Reason,
			Message:    condition.Message,
		})
	}
	return out
}

func lease(in *coordinationv1.Lease, fields []metav1.ManagedFieldsEntry) *history.Lease {
	_, identity := in.Labels[identityLabel]
	out := &history.Lease{Identity: identity, Acquired: timeOf(in.Spec.AcquireTime), Renewed: timeOf(in.Spec.RenewTime)}
	if in.Spec.HolderIdentity != nil {
		out.Holder = *in.Spec.HolderIdentity
	}
	if in.Spec.LeaseDurationSeconds != nil {
		out.Duration = int(*in.Spec.LeaseDurationSeconds)
	}
	if in.Spec.LeaseTransitions != nil {
		out.Transitions = int(*in.Spec.LeaseTransitions)
	}
	if in.Spec.Strategy != nil {
		out.Strategy = string(*in.Spec.Strategy)
	}
	if in.Spec.PreferredHolder != nil {
		out.Preferred = *in.Spec.PreferredHolder
	}
	out.Coordinator = cmp.Or(in.Annotations[CoordinatorAnnotation], coordinatorOfLease(out.Preferred != "", fields))
	out.Renewer = renewerOf(in.Namespace+"/"+in.Name, fields)
	return out
}

// isStorageVersionKey is whether etcd keeps a StorageVersion under the key.
func isStorageVersionKey(key string) bool {
	return strings.Contains(key, "/storageversions/")
}
