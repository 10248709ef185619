package apiserver

import (
	"fmt"
	"slices"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/evenkeel/evenkeel/impl/apiserver/registry"
	"github.com/evenkeel/evenkeel/impl/apiserver/registry/review"
	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// builder makes the API groups of this server.
type builder struct {
	scheme  *runtime.Scheme
	codecs  serializer.CodecFactory
	getter  generic.RESTOptionsGetter
	release release.Release
	// coordinated is whether leaders are elected by a coordinator.
	coordinated bool
	defects     defects.Set
	authn       authenticator.Request
	authz       authorizer.Authorizer
}

// resources are the storages of one version, by path.
type resources map[string]rest.Storage

// install adds all groups to the server.
func (b builder) install(server *genericapiserver.GenericAPIServer) error {
	core, err := b.group(corev1.GroupName, registry.Core())
	if err != nil {
		return err
	}
	if err := server.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, core); err != nil {
		return err
	}

	var groups []*genericapiserver.APIGroupInfo
	for group, rules := range map[string][]registry.Rules{
		discoveryv1.GroupName: registry.Discovery(),
		release.Group:         registry.Reference(),
	} {
		info, err := b.group(group, rules)
		if err != nil {
			return err
		}
		groups = append(groups, info)
	}
	internal, err := b.storageVersions()
	if err != nil {
		return err
	}
	migrations, err := b.storageMigrations()
	if err != nil {
		return err
	}
	coordination, err := b.coordination()
	if err != nil {
		return err
	}
	groups = append(groups, internal, migrations, coordination,
		b.info(authenticationv1.GroupName, resources{
			"tokenreviews":       review.NewTokenReview(b.authn),
			"selfsubjectreviews": review.NewSelfSubjectReview(),
		}),
		b.info(authorizationv1.GroupName, resources{
			"subjectaccessreviews":     review.NewSubjectAccessReview(b.authz),
			"selfsubjectaccessreviews": review.NewSelfSubjectAccessReview(b.authz),
		}))
	slices.SortFunc(groups, func(a, b *genericapiserver.APIGroupInfo) int {
		return slices.Compare([]string{a.PrioritizedVersions[0].Group}, []string{b.PrioritizedVersions[0].Group})
	})
	return server.InstallAPIGroups(groups...)
}

// group opens the storage of resources that need no more than their rules.
func (b builder) group(group string, rules []registry.Rules) (*genericapiserver.APIGroupInfo, error) {
	storages := resources{}
	for _, rule := range rules {
		store, err := registry.NewStore(b.scheme, b.getter, rule)
		if err != nil {
			return nil, fmt.Errorf("open the storage of %s: %w", rule.Resource, err)
		}
		storages[rule.Resource.Resource] = store
	}
	return b.info(group, storages), nil
}

func (b builder) storageVersions() (*genericapiserver.APIGroupInfo, error) {
	object, status := registry.StorageVersions()
	plantStorageVersionRules(&object, &status, b.defects)
	store, err := registry.NewStore(b.scheme, b.getter, object)
	if err != nil {
		return nil, fmt.Errorf("open the storage of %s: %w", object.Resource, err)
	}
	plantView(store, b.defects)
	return b.info(apiserverinternalv1alpha1.GroupName, resources{
		"storageversions":        store,
		"storageversions/status": registry.NewStatusStore(b.scheme, store, status),
	}), nil
}

// candidates is the resource of those who want to lead.
const candidates = "leasecandidates"

// coordination has each resource in the versions that the published API has it in.
func (b builder) coordination() (*genericapiserver.APIGroupInfo, error) {
	stores := map[string]rest.Storage{}
	for _, rules := range []registry.Rules{registry.Leases(b.coordinated), registry.LeaseCandidates()} {
		store, err := registry.NewStore(b.scheme, b.getter, rules)
		if err != nil {
			return nil, fmt.Errorf("open the storage of %s: %w", rules.Resource, err)
		}
		stores[rules.Resource.Resource] = store
	}
	info := b.info(coordinationv1.GroupName, nil)
	for _, version := range info.PrioritizedVersions {
		resource := candidates
		if version == coordinationv1.SchemeGroupVersion {
			resource = "leases"
		}
		info.VersionedResourcesStorageMap[version.Version] = resources{resource: stores[resource]}
	}
	return info, nil
}

func (b builder) storageMigrations() (*genericapiserver.APIGroupInfo, error) {
	object, status := registry.StorageMigrations()
	plantMigrationRules(&object, &status, b.defects)
	store, err := registry.NewStore(b.scheme, b.getter, object)
	if err != nil {
		return nil, fmt.Errorf("open the storage of %s: %w", object.Resource, err)
	}
	plantLeftovers(store, b.defects)
	return b.info(storagemigrationv1.GroupName, resources{
		"storageversionmigrations":        store,
		"storageversionmigrations/status": registry.NewStatusStore(b.scheme, store, status),
	}), nil
}

// info serves the storages in every version that the release serves.
func (b builder) info(group string, storages resources) *genericapiserver.APIGroupInfo {
	info := genericapiserver.NewDefaultAPIGroupInfo(group, b.scheme, runtime.NewParameterCodec(b.scheme), b.codecs)
	info.PrioritizedVersions = b.servedVersions(group)
	for _, version := range info.PrioritizedVersions {
		info.VersionedResourcesStorageMap[version.Version] = storages
	}
	return &info
}

// servedVersions are the versions of a group that clients may use, preferred
// first. What can be decoded and is not served stays readable in etcd only.
func (b builder) servedVersions(group string) []schema.GroupVersion {
	if group != release.Group {
		return b.scheme.PrioritizedVersionsForGroup(group)
	}
	var versions []schema.GroupVersion
	for _, version := range b.release.Ballasts().Served {
		versions = append(versions, schema.GroupVersion{Group: group, Version: version})
	}
	return versions
}
