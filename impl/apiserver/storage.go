package apiserver

import (
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"

	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// etcdPrefix is the prefix of all etcd keys, as in Kubernetes.
const etcdPrefix = "/registry"

// storageVersions is KEP-2339's resource.
var storageVersions = apiserverinternalv1alpha1.SchemeGroupVersion.WithResource("storageversions").GroupResource()

// etcdOptions is how etcd is reached, without codec.
func etcdOptions(o Options, config *genericapiserver.Config) *genericoptions.EtcdOptions {
	backend := storagebackend.NewDefaultConfig(etcdPrefix, nil)
	backend.Transport = storagebackend.TransportConfig{
		ServerList:     o.EtcdServers,
		TrustedCAFile:  o.EtcdCAFile,
		CertFile:       o.EtcdCertFile,
		KeyFile:        o.EtcdKeyFile,
		TracerProvider: config.TracerProvider,
	}
	backend.StorageObjectCountTracker = config.StorageObjectCountTracker
	options := genericoptions.NewEtcdOptions(backend)
	// Readable bytes in etcd: the stored version is evidence.
	options.DefaultStorageMediaType = runtime.ContentTypeJSON
	options.EnableWatchCache = !o.WithoutWatchCache
	if storageversion.NewView(o.Defects).Wanted() {
		// Events of a watch cache are shared, so they cannot be falsified.
		options.WatchCacheSizes = []string{storageVersions.String() + "#0"}
	}
	return options
}

// useBuiltinStorage stores the resources of this server: each in the version
// that the release says, at /registry/<resource>.
func useBuiltinStorage(options *genericoptions.EtcdOptions, config *genericapiserver.Config, codecs serializer.CodecFactory, versions encoding) error {
	factory := serverstorage.NewDefaultStorageFactory(
		options.StorageConfig, options.DefaultStorageMediaType, codecs, versions,
		serverstorage.NewResourceConfig(), nil)
	return options.ApplyWithStorageFactoryTo(factory, config)
}

// useExtensionStorage stores CustomResourceDefinitions at
// /registry/apiextensions.k8s.io/<resource>.
func useExtensionStorage(options genericoptions.EtcdOptions, config *genericapiserver.Config) (genericoptions.EtcdOptions, error) {
	return useLibraryStorage(options, config, apiextensionsapiserver.Codecs, apiextensionsv1.SchemeGroupVersion)
}

// useAggregatorStorage stores APIServices at
// /registry/apiregistration.k8s.io/<resource>.
func useAggregatorStorage(options genericoptions.EtcdOptions, config *genericapiserver.Config) (genericoptions.EtcdOptions, error) {
	return useLibraryStorage(options, config, aggregatorscheme.Codecs, apiregistrationv1.SchemeGroupVersion)
}

func useLibraryStorage(options genericoptions.EtcdOptions, config *genericapiserver.Config, codecs serializer.CodecFactory, version schema.GroupVersion) (genericoptions.EtcdOptions, error) {
	options.StorageConfig.Codec = codecs.LegacyCodec(version)
	options.StorageConfig.EncodeVersioner = runtime.NewMultiGroupVersioner(version, schema.GroupKind{Group: version.Group})
	// The health of etcd is reported once, by the server that needs it most.
	options.SkipHealthEndpoints = true
	config.RESTOptionsGetter = nil
	return options, options.ApplyTo(config)
}
