package apiserver

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/transport"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationhelper "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	apiregistrationinformers "k8s.io/kube-aggregator/pkg/client/informers/externalversions/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/controllers/status/remote"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/evenkeel/evenkeel/impl/discovery"
)

// aggregatorName is the user that fetches discovery from aggregated servers, as in
// Kubernetes.
const aggregatorName = "system:kube-aggregator"

// defaultServicePort is where an APIService leads that names no port.
const defaultServicePort = 443

// followServices makes remotes follow the APIServices. The returned function reports
// whether the APIServices that existed at the start are known.
func followServices(informer apiregistrationinformers.APIServiceInformer, remotes *discovery.Remotes) (cache.InformerSynced, error) {
	registration, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if service, ok := obj.(*apiregistrationv1.APIService); ok {
				track(remotes, service)
			}
		},
		UpdateFunc: func(before, obj any) {
			was, wasOne := before.(*apiregistrationv1.APIService)
			service, ok := obj.(*apiregistrationv1.APIService)
			if !ok || !wasOne {
				return
			}
			track(remotes, service)
			if available(was) != available(service) {
				remotes.Hurry(versionOfService(service))
			}
		},
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			if service, ok := obj.(*apiregistrationv1.APIService); ok {
				remotes.Untrack(versionOfService(service))
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return registration.HasSynced, nil
}

// track tracks an APIService that leads to another server, and no other.
func track(remotes *discovery.Remotes, service *apiregistrationv1.APIService) {
	if service.Spec.Service == nil {
		remotes.Untrack(versionOfService(service))
		return
	}
	remotes.Track(discovery.Service{
		GroupVersion: versionOfService(service),
		Priority:     priorityOf(service),
		Backend: discovery.Backend{
			Namespace: service.Spec.Service.Namespace,
			Name:      service.Spec.Service.Name,
			Port:      ptr.Deref(service.Spec.Service.Port, defaultServicePort),
			CABundle:  string(service.Spec.CABundle),
			Insecure:  service.Spec.InsecureSkipTLSVerify,
		},
	})
}

func versionOfService(service *apiregistrationv1.APIService) schema.GroupVersion {
	return schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version}
}

func available(service *apiregistrationv1.APIService) bool {
	return apiregistrationhelper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available)
}

// newRemotes returns one that finds servers, and identifies itself to them, as
// the aggregator does.
func newRemotes(catalog *discovery.Catalog, resolver aggregatorapiserver.ServiceResolver, o Options) (*discovery.Remotes, error) {
	identity := func() (certificate, key []byte) { return nil, nil }
	if o.ProxyClientCertFile != "" {
		pair, err := dynamiccertificates.NewDynamicServingContentFromFiles("proxy-client", o.ProxyClientCertFile, o.ProxyClientKeyFile)
		if err != nil {
			return nil, fmt.Errorf("--proxy-client-cert-file and --proxy-client-key-file: %w", err)
		}
		identity = currentContent(pair)
	}
	return discovery.NewRemotes(catalog, dialer(resolver, identity), clock.RealClock{}, newRandom()), nil
}

// currentContent reads a certificate and its key again whenever they are asked for: they are
// renewed while a server runs. If they cannot be read, or do not belong to each other because
// one file was replaced before the other one, the last ones are still used.
func currentContent(pair *dynamiccertificates.DynamicCertKeyPairContent) func() (certificate, key []byte) {
	return func() (certificate, key []byte) {
		if err := pair.RunOnce(context.Background()); err != nil {
			utilruntime.HandleError(fmt.Errorf("--proxy-client-cert-file and --proxy-client-key-file: %w", err))
		}
		return pair.CurrentCertKeyContent()
	}
}

// newRandom returns a source with an unpredictable seed.
func newRandom() *rand.Rand {
	var seed [32]byte
	// Never fails, as of Go 1.24.
	_, _ = crand.Read(seed[:])
	return rand.New(rand.NewChaCha8(seed))
}

// dialer connects to the servers behind Services. Connections are kept and
// shared by the transport that it returns.
func dialer(resolver aggregatorapiserver.ServiceResolver, identity func() (certificate, key []byte)) discovery.Dial {
	return func(b discovery.Backend) (http.RoundTripper, error) {
		certificate, key := identity()
		config := remote.BuildTransportConfig(nil, certificate, key, &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{
			Service:               &apiregistrationv1.ServiceReference{Namespace: b.Namespace, Name: b.Name, Port: ptr.To(b.Port)},
			CABundle:              []byte(b.CABundle),
			InsecureSkipTLSVerify: b.Insecure,
		}})
		carrier, err := transport.New(config)
		if err != nil {
			return nil, err
		}
		return resolving{
			resolver: resolver, backend: b,
			next: transport.NewAuthProxyRoundTripper(aggregatorName, "", []string{user.SystemPrivilegedGroup}, nil, carrier),
		}, nil
	}
}

// resolving sends requests to where a Service is now.
type resolving struct {
	resolver aggregatorapiserver.ServiceResolver
	backend  discovery.Backend
	next     http.RoundTripper
}

// RoundTrip sends one request.
func (t resolving) RoundTrip(r *http.Request) (*http.Response, error) {
	location, err := t.resolver.ResolveEndpoint(t.backend.Namespace, t.backend.Name, t.backend.Port)
	if err != nil {
		return nil, err
	}
	if location.Host == "" {
		return nil, errors.New("the Service has no address")
	}
	r = r.Clone(r.Context())
	r.URL.Host, r.Host = location.Host, location.Host
	return t.next.RoundTrip(r)
}
