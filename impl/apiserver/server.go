package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	extensionsoptions "k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/klog/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	aggregatorclient "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/kube-aggregator/pkg/controllers/autoregister"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/apis/scheme"
	"github.com/evenkeel/evenkeel/impl/storageversion"
)

// watchDrainBound is how long watches get to end when the server stops;
// clients reconnect elsewhere, so nothing is lost by cutting them short.
const watchDrainBound = time.Second

// shutdownBound is how long connections may stay open after the last request.
const shutdownBound = 2 * time.Second

// haMasterCount makes the extension server assume that there are other API servers,
// which may observe a new CRD later than this one. So it establishes a CRD, and lists
// it in discovery, five seconds later.
const haMasterCount = 2

// server is the chain of three servers that one process consists of: requests
// reach the aggregator first, which passes on what it does not host to the
// built-in server, which passes on to the extension server.
type server struct {
	options    Options
	config     *genericapiserver.RecommendedConfig
	etcd       *genericoptions.EtcdOptions
	builtin    encoding
	codecs     serializer.CodecFactory
	persisted  *persisted
	client     kubernetes.Interface
	extension  *apiextensionsapiserver.CustomResourceDefinitions
	reference  *genericapiserver.GenericAPIServer
	aggregator *aggregatorapiserver.APIAggregator
	versions   *storageversion.Manager
	catalogs   catalogs
	// neighbors is nil for a server without peers.
	neighbors *neighbors
	// resolver resolves Services: an ExternalName to its host, any other one to its
	// address.
	resolver aggregatorapiserver.ServiceResolver
	doors    *customDoors
	// inner is what requests meet behind the filters. It grows from the inside
	// out while the server is built, and is complete before anything is served.
	inner http.Handler
}

// Run serves until the context ends, and then for as long as requests under way
// need. It returns early when it cannot serve.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := waitForEtcd(ctx, o); err != nil {
		return err
	}
	s, err := newServer(o)
	if err != nil {
		return err
	}
	prepared, err := s.aggregator.PrepareRun()
	if err != nil {
		return fmt.Errorf("prepare the API server: %w", err)
	}
	return prepared.Run(ctx)
}

func newServer(o Options) (*server, error) {
	o = plantOptions(o)
	s := &server{options: o, persisted: newPersisted(), doors: newCustomDoors()}
	s.builtin = encoding{scheme: scheme.New(o.Release), release: o.Release}
	s.codecs = serializer.NewCodecFactory(s.builtin.scheme)
	for _, step := range []func() error{
		s.configure, s.buildExtension, s.buildReference, s.buildAggregator, s.registerServices, s.serveDiscovery, s.publishVersions, s.coordinate, s.routeToPeers, s.plantAround,
	} {
		if err := step(); err != nil {
			if s.config != nil && s.config.SecureServing != nil {
				s.config.SecureServing.Listener.Close()
			}
			return nil, err
		}
	}
	return s, nil
}

// configure fills in what the three servers share.
func (s *server) configure() error {
	config := genericapiserver.NewRecommendedConfig(s.codecs)
	config.EffectiveVersion = versionOf(s.options.Release)
	config.APIServerID = s.options.ServerID
	config.EnableProfiling = false
	config.ShutdownWatchTerminationGracePeriod = watchDrainBound
	// The library fails /readyz at once, serves on for that long, and drains then.
	config.ShutdownDelayDuration = s.options.ShutdownDelayDuration
	config.PublicAddress = net.ParseIP(s.options.BindAddress)
	config.MergedResourceConfig = serverstorage.NewResourceConfig()
	config.DisabledPostStartHooks.Insert(libraryDiscovery)
	var err error
	if s.catalogs, err = newCatalogs(s.options); err != nil {
		return err
	}
	s.catalogs.core.Plant(s.options.Defects)
	s.catalogs.groups.Plant(s.options.Defects)
	config.AggregatedDiscoveryGroupManager = newDiscoveryFeed(s.catalogs.groups)

	address := net.JoinHostPort(s.options.BindAddress, strconv.Itoa(s.options.SecurePort))
	certificate, err := dynamiccertificates.NewDynamicServingContentFromFiles("serving", s.options.TLSCertFile, s.options.TLSKeyFile)
	if err != nil {
		return fmt.Errorf("--tls-cert-file and --tls-private-key-file: %w", err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	config.SecureServing = &genericapiserver.SecureServingInfo{Listener: listener, Cert: certificate}
	s.config = config
	if err := authenticate(&config.Config, s.options); err != nil {
		return err
	}
	config.Authorization.Authorizer = authorizer.AuthorizerFunc(plantMaker(authorize, s.options.Defects))
	if err := connectToSelf(&config.Config); err != nil {
		return err
	}
	if s.client, err = kubernetes.NewForConfig(config.LoopbackClientConfig); err != nil {
		return err
	}
	config.SharedInformerFactory = informers.NewSharedInformerFactory(s.client, informerResync)
	s.resolver = aggregatorapiserver.NewClusterIPServiceResolver(config.SharedInformerFactory.Core().V1().Services().Lister())
	describe(&config.Config, s.builtin.scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme)

	s.etcd = etcdOptions(s.options, &config.Config)
	if err := useBuiltinStorage(s.etcd, &config.Config, s.codecs, s.builtin); err != nil {
		return err
	}
	getter := plantInCodec(config.RESTOptionsGetter, s.codecs, s.options.Release, s.options.Defects)
	config.RESTOptionsGetter = s.storage(getter, s.builtin.scheme)
	return nil
}

// storage makes a getter record what is kept in etcd, and guard it.
func (s *server) storage(getter generic.RESTOptionsGetter, scheme *runtime.Scheme) generic.RESTOptionsGetter {
	return guardingGetter{
		RESTOptionsGetter: s.persisted.watching(getter, scheme),
		mayPersist:        s.mayPersist,
	}
}

// mayPersist says why an object of a resource may not be stored now, or nil.
// Stores try their codecs out while they are built; nothing is served then.
func (s *server) mayPersist(group, resource string) error {
	if s.versions == nil {
		return nil
	}
	return s.versions.MayPersist(group, resource)
}

// delegateConfig is a copy of the shared configuration for another server of
// the chain. What it inherits from the others must not be added a second time.
func (s *server) delegateConfig() *genericapiserver.RecommendedConfig {
	config := *s.config
	config.PostStartHooks = map[string]genericapiserver.PostStartHookConfigEntry{}
	return &config
}

func (s *server) buildExtension() error {
	config := s.delegateConfig()
	etcd, err := useExtensionStorage(*s.etcd, &config.Config)
	if err != nil {
		return err
	}
	config.RESTOptionsGetter = s.storage(config.RESTOptionsGetter, apiextensionsapiserver.Scheme)
	config.MergedResourceConfig = apiextensionsapiserver.DefaultAPIResourceConfigSource()
	// Of a resource whose definition is being deleted the library asks the admission that there is,
	// without a look at whether there is one: the finalizer of an object could not be removed.
	config.AdmissionControl = admission.NewChainHandler()
	extension := apiextensionsapiserver.Config{
		GenericConfig: config,
		ExtraConfig: apiextensionsapiserver.ExtraConfig{
			CRDRESTOptionsGetter: plantCustom(customGetter{
				RESTOptionsGetter: extensionsoptions.NewCRDRESTOptionsGetter(etcd, nil, config.StorageObjectCountTracker),
				doors:             s.doors,
				// Nothing is served before the manager is there.
				manager: func() announcer { return s.versions },
			}, s.options.Defects),
			MasterCount:         cmp.Or(s.options.APIServerCount, haMasterCount),
			ServiceResolver:     s.resolver,
			AuthResolverWrapper: webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, config.LoopbackClientConfig, config.TracerProvider),
		},
	}
	notFound := notfoundhandler.New(config.Serializer, genericapifilters.NoMuxAndDiscoveryIncompleteKey)
	s.extension, err = extension.Complete().New(genericapiserver.NewEmptyDelegateWithCustomHandler(notFound))
	if err != nil {
		return fmt.Errorf("build the extension server: %w", err)
	}
	return nil
}

func (s *server) buildReference() error {
	completed := s.config.Complete()
	var err error
	s.reference, err = completed.New("reference-apiserver", s.extension.GenericAPIServer)
	if err != nil {
		return fmt.Errorf("build the API server: %w", err)
	}
	// The libraries have no setting for this one.
	s.reference.AggregatedLegacyDiscoveryGroupManager = newDiscoveryFeed(s.catalogs.core)
	builder := builder{
		scheme: s.builtin.scheme, codecs: s.codecs, getter: s.config.RESTOptionsGetter,
		release: s.options.Release, defects: s.options.Defects, coordinated: plantFields(s.options.coordinated(), s.options.Defects),
		authn: completed.Authentication.Authenticator, authz: completed.Authorization.Authorizer,
	}
	return builder.install(s.reference)
}

func (s *server) buildAggregator() error {
	config := s.delegateConfig()
	if _, err := useAggregatorStorage(*s.etcd, &config.Config); err != nil {
		return err
	}
	config.RESTOptionsGetter = s.storage(config.RESTOptionsGetter, aggregatorscheme.Scheme)
	config.MergedResourceConfig = aggregatorapiserver.DefaultAPIResourceConfigSource()
	// The aggregator serves one description of everything, by itself.
	config.SkipOpenAPIInstallation = true
	// Only this one of the three filter chains is used. The barrier is its innermost
	// filter, so that it knows the user, and runs before all three servers.
	config.BuildHandlerChainFunc = func(handler http.Handler, c *genericapiserver.Config) http.Handler {
		s.inner = handler
		return genericapiserver.DefaultBuildHandlerChain(s.plantEveryRun(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.inner.ServeHTTP(w, r)
		})), c)
	}
	aggregator := aggregatorapiserver.Config{
		GenericConfig: config,
		ExtraConfig: aggregatorapiserver.ExtraConfig{
			ServiceResolver:     s.resolver,
			ProxyClientCertFile: s.options.ProxyClientCertFile,
			ProxyClientKeyFile:  s.options.ProxyClientKeyFile,
		},
	}
	var err error
	s.aggregator, err = aggregator.Complete().NewWithDelegate(s.reference)
	if err != nil {
		return fmt.Errorf("build the aggregator: %w", err)
	}
	s.aggregator.GenericAPIServer.ShutdownTimeout = shutdownBound
	return nil
}

// registerServices keeps APIServices for what the process itself hosts.
func (s *server) registerServices() error {
	client, err := aggregatorclient.NewForConfig(s.config.LoopbackClientConfig)
	if err != nil {
		return err
	}
	informer := s.aggregator.APIRegistrationInformers.Apiregistration().V1().APIServices()
	controller := autoregister.NewAutoRegisterController(informer, client.ApiregistrationV1())
	services := localServices(s.aggregator.GenericAPIServer, s.reference, s.extension.GenericAPIServer)
	for _, service := range services {
		if service.Spec.Group != apiregistrationv1.GroupName {
			controller.AddAPIServiceToSyncOnStart(service)
		}
	}
	registrar, err := newRegistrar(controller, s.extension.Informers.Apiextensions().V1().CustomResourceDefinitions())
	if err != nil {
		return err
	}
	if err := s.catalogs.rank(services); err != nil {
		return err
	}
	return s.aggregator.GenericAPIServer.AddPostStartHook("local-apiservices", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			// APIServices are guarded: writing them before is in vain.
			if s.versions.WaitRegistered(hook) == nil && registrar.waitForCRDs(hook) {
				go registrar.run(hook)
				controller.Run(autoRegisterWorkers, hook.Done())
			}
		}()
		return nil
	})
}

// publishVersions makes the process take part in the storage version API.
func (s *server) publishVersions() error {
	hostname, err := s.options.hostname()
	if err != nil {
		return err
	}
	s.versions, err = storageversion.New(storageversion.Config{
		ServerID:      s.options.ServerID,
		Hostname:      hostname,
		PeerAddress:   s.options.peerAddress(),
		Resources:     s.persisted.list(s.aggregator.GenericAPIServer, s.reference, s.extension.GenericAPIServer),
		Classifier:    s.persisted,
		LeaseDuration: s.options.IdentityLeaseDuration,
		RenewInterval: s.options.IdentityLeaseRenewInterval,
		Silent:        s.options.WithoutStorageVersions,
		Defects:       s.options.Defects,
	})
	if err != nil {
		return err
	}
	s.inner = s.versions.Barrier(s.inner)
	outer := s.aggregator.GenericAPIServer
	if err := outer.AddReadyzChecks(s.versions.HealthCheck()); err != nil {
		return err
	}
	custom, err := newCustomAnnouncer(plantPublisher(s.versions, s.options.Defects), s.doors, s.extension.Informers.Apiextensions().V1().CustomResourceDefinitions(), clock.RealClock{})
	if err != nil {
		return err
	}
	if err := outer.AddPostStartHook("storage-versions", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if err := custom.begin(hook); err != nil {
				return // The server is stopping.
			}
			go custom.run(hook)
			if err := s.versions.Run(hook, hook.LoopbackClientConfig); err != nil && hook.Err() == nil {
				klog.ErrorS(err, "Storage versions are not published; this server will never be ready")
			}
		}()
		return nil
	}); err != nil {
		return err
	}
	contents, err := metadata.NewForConfig(s.config.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("make a client for emptying namespaces: %w", err)
	}
	return outer.AddPostStartHook("system-namespaces", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if s.versions.WaitRegistered(hook) != nil {
				return // The server is stopping.
			}
			troubles := newTroubles(clock.RealClock{})
			// Beside each other: a namespace that cannot be created keeps none from being emptied.
			go namespaceCreator{s.client, clock.RealClock{}, troubles}.run(hook)
			newEmptier(s.client, contents, clock.RealClock{}, troubles).run(hook)
		}()
		return nil
	})
}
