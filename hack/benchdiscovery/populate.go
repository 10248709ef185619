package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// populate creates a number of CRDs and returns once discovery tells of all.
func populate(ctx context.Context, config *rest.Config, crds int) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	group, together := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for number := range crds {
		group.Go(func() error { return create(together, client, specimen(number)) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("create CRDs: %w", err)
	}
	c, err := newClient(config)
	if err != nil {
		return err
	}
	wanted := expect(crds)
	var now told
	err = wait.PollUntilContextTimeout(ctx, toldPoll, toldBound, true, func(ctx context.Context) (bool, error) {
		list := &apidiscoveryv2.APIGroupDiscoveryList{}
		if err := c.document(ctx, list); err != nil {
			return false, err
		}
		now = customOf(list)
		return now == wanted, nil
	})
	if err != nil {
		return fmt.Errorf("discovery tells of %+v of %d CRDs, and not of %+v: %w", now, crds, wanted, err)
	}
	return nil
}

func create(ctx context.Context, client dynamic.Interface, crd *apiextensionsv1.CustomResourceDefinition) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestBound)
	defer cancel()
	_, err = client.Resource(crdResource).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	return err
}

// told counts what discovery tells of; resources are without their subresources.
type told struct{ versions, resources int }

// expect is what a number of CRDs comes to.
func expect(crds int) told {
	var t told
	for number := range crds {
		versions := 1
		if beta(number) {
			versions = 2
		}
		t.resources += versions
		if number%kindsPerGroup == 0 {
			t.versions += versions
		}
	}
	return t
}

// customOf counts what of a document are resources of this program.
func customOf(list *apidiscoveryv2.APIGroupDiscoveryList) told {
	var t told
	for _, group := range list.Items {
		if !strings.HasSuffix(group.Name, "."+vendorDomain) {
			continue
		}
		for _, version := range group.Versions {
			t.versions++
			t.resources += len(version.Resources)
		}
	}
	return t
}

// seconds is a duration as a figure.
func seconds(d time.Duration) float64 { return d.Seconds() }
