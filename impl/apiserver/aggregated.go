package apiserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/apis/scheme"
	"github.com/evenkeel/evenkeel/impl/apiserver/registry"
	"github.com/evenkeel/evenkeel/impl/release"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// AggregatedOptions are what a sample of an aggregated API server is started with.
type AggregatedOptions struct {
	Options
	// Config leads to the API server that the server is joined to. There it takes
	// part and publishes its storage versions; itself it does not host that API.
	Config *rest.Config
}

// aggregatedServer is a server that hosts one resource of its own, keeps it in an
// etcd of its own choice, and is reached through APIServices.
//
// KEP-2339: aggregated servers that use the same library get the same behavior.
// This server uses the same Manager as the API server, with a client of the API
// server instead of a loopback client.
type aggregatedServer struct {
	options   AggregatedOptions
	persisted *persisted
	generic   *genericapiserver.GenericAPIServer
	versions  *storageversion.Manager
	// inner is what requests meet behind the filters.
	inner http.Handler
}

// RunAggregated serves until the context ends.
func RunAggregated(ctx context.Context, o AggregatedOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := waitForEtcd(ctx, o.Options); err != nil {
		return err
	}
	s, err := newAggregated(o)
	if err != nil {
		return err
	}
	return s.generic.PrepareRun().RunWithContext(ctx)
}

func newAggregated(o AggregatedOptions) (*aggregatedServer, error) {
	s := &aggregatedServer{options: o, persisted: newPersisted()}
	known := scheme.NewAggregated(o.Release)
	codecs := serializer.NewCodecFactory(known)
	config := genericapiserver.NewRecommendedConfig(codecs)
	config.EffectiveVersion = versionOf(o.Release)
	config.APIServerID = o.ServerID
	config.EnableProfiling = false
	config.ShutdownWatchTerminationGracePeriod = watchDrainBound
	config.MergedResourceConfig = serverstorage.NewResourceConfig()
	config.PublicAddress = net.ParseIP(o.BindAddress)

	certificate, err := dynamiccertificates.NewDynamicServingContentFromFiles("serving", o.TLSCertFile, o.TLSKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert-file and --tls-private-key-file: %w", err)
	}
	address := net.JoinHostPort(o.BindAddress, strconv.Itoa(o.SecurePort))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	config.SecureServing = &genericapiserver.SecureServingInfo{Listener: listener, Cert: certificate}
	if err := s.build(config, codecs); err != nil {
		listener.Close()
		return nil, err
	}
	return s, nil
}

func (s *aggregatedServer) build(config *genericapiserver.RecommendedConfig, codecs serializer.CodecFactory) error {
	o := s.options
	if err := authenticate(&config.Config, o.Options); err != nil {
		return err
	}
	config.Authorization.Authorizer = authorizer.AuthorizerFunc(authorize)
	if err := connectToSelf(&config.Config); err != nil {
		return err
	}
	known := scheme.NewAggregated(o.Release)
	describe(&config.Config, known)

	etcd := etcdOptions(o.Options, &config.Config)
	etcd.StorageConfig.Prefix = etcdPrefix + "/" + release.AggregatedGroup
	played := release.Release{Name: o.Release.Name, Resources: []release.Resource{o.Release.Aggregated()}}
	if err := useBuiltinStorage(etcd, &config.Config, codecs, encoding{scheme: known, release: played}); err != nil {
		return err
	}
	config.RESTOptionsGetter = guardingGetter{
		RESTOptionsGetter: s.persisted.watching(config.RESTOptionsGetter, known),
		mayPersist: func(group, resource string) error {
			if s.versions == nil {
				return nil // Stores try their codecs out while they are built.
			}
			return s.versions.MayPersist(group, resource)
		},
	}
	config.BuildHandlerChainFunc = func(handler http.Handler, c *genericapiserver.Config) http.Handler {
		s.inner = handler
		return genericapiserver.DefaultBuildHandlerChain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.inner.ServeHTTP(w, r)
		}), c)
	}
	var err error
	if s.generic, err = config.Complete().New("aggregated-apiserver", genericapiserver.NewEmptyDelegate()); err != nil {
		return fmt.Errorf("build the API server: %w", err)
	}
	s.generic.ShutdownTimeout = shutdownBound
	rules := registry.Reference()[0]
	rules.Resource.Group = release.AggregatedGroup
	info, err := builder{scheme: known, codecs: codecs, getter: config.RESTOptionsGetter, release: played}.group(release.AggregatedGroup, []registry.Rules{rules})
	if err != nil {
		return err
	}
	if err := s.generic.InstallAPIGroups(info); err != nil {
		return err
	}
	return s.publish()
}

// publish makes the server take part, and hold writes back until it has registered.
func (s *aggregatedServer) publish() error {
	o := s.options
	hostname, err := o.hostname()
	if err != nil {
		return err
	}
	s.versions, err = storageversion.New(storageversion.Config{
		ServerID:      o.ServerID,
		Hostname:      hostname,
		Resources:     s.persisted.list(s.generic),
		Classifier:    s.persisted,
		LeaseDuration: o.IdentityLeaseDuration,
		RenewInterval: o.IdentityLeaseRenewInterval,
		Silent:        o.WithoutStorageVersions,
		Defects:       o.Defects,
	})
	if err != nil {
		return err
	}
	s.inner = s.versions.Barrier(s.inner)
	if err := s.generic.AddReadyzChecks(s.versions.HealthCheck()); err != nil {
		return err
	}
	return s.generic.AddPostStartHook("storage-versions", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if err := s.versions.Run(hook, o.Config); err != nil && hook.Err() == nil {
				klog.ErrorS(err, "Storage versions are not published; this server will never be ready")
			}
		}()
		return nil
	})
}
