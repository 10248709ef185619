package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/evenkeel/evenkeel/pkg/chaosmesh"
)

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: networkchaos.chaos-mesh.org}
spec:
  versions:
  - name: v1alpha1
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
`

// All objects of the manifest are read as an API server reads them.
func TestManifest(t *testing.T) {
	b := built{source: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(b.source, "manifests"), folderMode); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.source, "manifests", "crd.yaml"), []byte(definition), privateMode); err != nil {
		t.Fatal(err)
	}
	raw, err := b.manifest(place{Node: "node-3", Address: "10.0.0.3", server: "balancer:6443"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(string(raw)), len(raw))
	for {
		var object unstructured.Unstructured
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if object.Object == nil {
			continue
		}
		found[object.GetKind()]++
		if namespace := object.GetNamespace(); namespace != "" && namespace != chaosmesh.Namespace {
			t.Errorf("%s %s is in the namespace %q", object.GetKind(), object.GetName(), namespace)
		}
	}
	for kind, n := range map[string]int{"CustomResourceDefinition": 1, "Namespace": 1, "DaemonSet": 1, "Deployment": 1, "Service": 1, "MutatingWebhookConfiguration": 1, "ValidatingWebhookConfiguration": 1, "Secret": 3} {
		if found[kind] != n {
			t.Errorf("there are %d of %s, want %d", found[kind], kind, n)
		}
	}
	for _, want := range []string{"nodeName: node-3", "https://10.0.0.3:9443/mutate-chaos-mesh-org-v1alpha1-podchaos", `value: "balancer"`, `"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, "image: " + image} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("the manifest has no %q", want)
		}
	}
}

func TestManifest_ServerWithoutAPortIsRefused(t *testing.T) {
	b := built{source: t.TempDir()}
	if _, err := b.manifest(place{Node: "n", Address: "a", server: "balancer"}); err == nil {
		t.Error("it was taken")
	}
}

// The stand-in calls nsenter as the program would enter namespaces.
func TestNsexec(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nsenter"), []byte("#!/bin/sh\necho \"$*\"\n"), programMode); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, err := exec.Command("bash", "nsexec.sh", "-n", "/proc/7/ns/net", "-p", "/proc/7/ns/pid", "--", "ipset", "-n", "x").CombinedOutput()
	if want := "--net=/proc/7/ns/net --pid=/proc/7/ns/pid -- ipset -n x\n"; err != nil || string(out) != want {
		t.Errorf("it calls %q (%v), want %q", out, err, want)
	}
	if out, err := exec.Command("bash", "nsexec.sh", "-l", "--", "true").CombinedOutput(); err == nil {
		t.Errorf("what it does not understand is left out: %s", out)
	}
}
