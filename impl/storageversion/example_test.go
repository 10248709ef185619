package storageversion_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/impl/storageversion"
	"github.com/evenkeel/evenkeel/impl/storageversion/svtest"
)

// tides are what the aggregated server of the example stores itself.
type tides struct{}

func (tides) IsBuiltInPersisted(group, resource string) bool {
	return group == "tides.example.com" && resource == "tides"
}

// An aggregated API server that takes part in the storage version API (KEP-2339, Aggregated
// API servers): it joins the participants, publishes in which version it stores its resource,
// and refuses writes until that is done. Where the example has an API in memory, a server has
// the configuration of the API server that it is joined to, and calls Run.
func Example_aggregatedServer() {
	api := svtest.New(clock.RealClock{}, nil)
	manager, err := storageversion.New(storageversion.Config{
		ServerID: "tides-1", Hostname: "node-1", Classifier: tides{},
		Resources: []storageversion.Resource{{
			Group: "tides.example.com", Resource: "tides",
			Encoding:  "tides.example.com/v1",
			Decodable: []string{"tides.example.com/v1", "tides.example.com/v1beta1"},
			Served:    []string{"tides.example.com/v1"},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The barrier belongs behind authentication, in front of all handlers.
	handler := manager.Barrier(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }))
	fmt.Println("a write before registration:", create(handler))

	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- manager.RunWith(ctx, api.Client()) }()
	if err := manager.WaitRegistered(ctx); err != nil {
		fmt.Println(err)
	}
	status := api.StorageVersion("tides.example.com.tides").Status
	fmt.Println("published by:", status.StorageVersions[0].APIServerID)
	fmt.Println("stored as:", *status.CommonEncodingVersion)
	fmt.Println("a write after it:", create(handler))
	stop()
	if err := <-done; err != nil {
		fmt.Println(err)
	}
	// Output:
	// a write before registration: 503
	// published by: tides-1
	// stored as: tides.example.com/v1
	// a write after it: 201
}

// create sends the request of a user, as the filters of a server hand it on.
func create(handler http.Handler) int {
	r := httptest.NewRequest(http.MethodPost, "/apis/tides.example.com/v1/namespaces/default/tides", http.NoBody)
	ctx := request.WithUser(r.Context(), &user.DefaultInfo{Name: "someone"})
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: "tides.example.com", APIVersion: "v1", Resource: "tides", Namespace: "default",
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(ctx))
	return w.Code
}
