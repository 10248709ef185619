package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// change is a sort of change of a CRD.
type change string

const (
	created    change = "a CRD is created"
	versionOn  change = "one more version is served"
	versionOff change = "a version is served no longer"
	deleted    change = "a CRD is deleted"
)

var changes = []change{created, versionOn, versionOff, deleted}

// timeChanges changes CRDs one at a time, and takes the time from the moment in
// which the request is sent until a client that asks over and over has an answer
// in whole that tells of it.
func timeChanges(ctx context.Context, config *rest.Config) (map[change][]float64, error) {
	writer, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	asking, err := newClient(config)
	if err != nil {
		return nil, err
	}
	defer closeAll([]*client{asking})
	crds := writer.Resource(crdResource)
	all := map[change][]float64{}
	for n := range changeRuns {
		crd := definition(fmt.Sprintf("changing%d.%s", n, vendorDomain), traits[0], things[0], n, true)
		crd.Spec.Versions[1].Served = false
		group := fmt.Appendf(nil, "%q", crd.Spec.Group)
		beta := fmt.Appendf(nil, `{"version":"v1beta1","resources":[{"resource":%q,"responseKind":{"group":%q`, crd.Spec.Names.Plural, crd.Spec.Group)
		for _, step := range []struct {
			what change
			do   func(context.Context) error
			// mark is what the document has, or lacks, from then on.
			mark    []byte
			visible bool
		}{
			{created, func(ctx context.Context) error { return create(ctx, writer, crd) }, group, true},
			{versionOn, func(ctx context.Context) error { return serveBeta(ctx, crds, crd, true) }, beta, true},
			{versionOff, func(ctx context.Context) error { return serveBeta(ctx, crds, crd, false) }, beta, false},
			{deleted, func(ctx context.Context) error { return crds.Delete(ctx, crd.Name, metav1.DeleteOptions{}) }, group, false},
		} {
			took, err := timeChange(ctx, asking, step.do, step.mark, step.visible)
			unseen := errors.Is(err, errUnseen)
			if err != nil && !unseen {
				return nil, fmt.Errorf("%s: %w", step.what, err)
			}
			if unseen {
				// For how long it would have stayed so is not known: no figure may be met by it.
				all[step.what] = append(all[step.what], math.Inf(1))
				break // what comes next would be measured from another beginning
			}
			all[step.what] = append(all[step.what], seconds(took))
		}
	}
	return all, nil
}

// serveBeta switches the second version of a CRD on or off.
func serveBeta(ctx context.Context, crds dynamic.ResourceInterface, crd *apiextensionsv1.CustomResourceDefinition, on bool) error {
	patch := fmt.Appendf(nil, `[{"op":"replace","path":"/spec/versions/1/served","value":%t}]`, on)
	_, err := crds.Patch(ctx, crd.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
	return err
}

// errUnseen is of a change that was made and did not become visible. It is a figure as
// good as any, and no reason to lose all others.
var errUnseen = fmt.Errorf("it was not visible within %s", changeBound)

// timeChange makes a change while a client asks for the document until it is as
// the change makes it. Where that takes longer than changeBound the error is errUnseen.
func timeChange(ctx context.Context, asking *client, do func(context.Context) error, mark []byte, visible bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, changeBound, errUnseen)
	defer cancel()
	seen, err := asking.read(ctx, true, "")
	if err != nil {
		return 0, err
	}
	has, err := seen.has(mark)
	if err != nil {
		return 0, err
	}
	if has == visible {
		return 0, errors.New("the document is as the change should make it before it is made")
	}
	tag := seen.tag
	began := time.Now()
	made := make(chan error, 1)
	go func() { made <- do(ctx) }()
	var taken bool
	for {
		seen, err := asking.read(ctx, true, tag)
		if err != nil {
			return 0, late(ctx, taken, err)
		}
		if seen.status != http.StatusNotModified {
			read := time.Now()
			has, err := seen.has(mark)
			if err != nil {
				return 0, err
			}
			if has == visible {
				if !taken {
					err = <-made
				}
				return read.Sub(began), err
			}
			tag = seen.tag
		}
		select {
		case err := <-made:
			if err != nil {
				return 0, err
			}
			taken, made = true, nil
		case <-time.After(changePoll):
		case <-ctx.Done():
			return 0, late(ctx, taken, ctx.Err())
		}
	}
}

// late is what became of a change that has not been seen. Only one that the server took
// can be late.
func late(ctx context.Context, taken bool, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, errUnseen) && !taken:
		return fmt.Errorf("the server did not take it within %s", changeBound)
	default:
		return cause
	}
}

// has reports whether the document has some bytes.
func (p page) has(mark []byte) (bool, error) {
	content, err := p.content()
	return bytes.Contains(content, mark), err
}
