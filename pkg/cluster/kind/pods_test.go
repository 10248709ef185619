//go:build linux

package kind

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestSetFlags(t *testing.T) {
	for _, tc := range []struct {
		name          string
		command, want []string
		flags         map[string]string
	}{
		{"replaced, where it stood in any form, and added in order",
			[]string{"etcd", "--a=1", "--b=2", "--keep=3"}, []string{"etcd", "--keep=3", "--a=x", "--c=y"},
			map[string]string{"c": "y", "a": "x", "b": ""}},
		{"one name begins another",
			[]string{"etcd", "--data-dir-mode=1"}, []string{"etcd", "--data-dir-mode=1", "--data-dir=x"},
			map[string]string{"data-dir": "x"}},
		{"a value with an equals sign", []string{"etcd", "--gates=A=true,B=false"}, []string{"etcd", "--gates=C=true"}, map[string]string{"gates": "C=true"}},
		{"a switch", []string{"etcd", "--quiet"}, []string{"etcd"}, map[string]string{"quiet": ""}},
		{"given several times", []string{"etcd", "--v=1", "--v=2"}, []string{"etcd", "--v=3"}, map[string]string{"v": "3"}},
		{"nothing", []string{"etcd", "--a=1"}, []string{"etcd", "--a=1"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := slices.Clone(tc.command)
			container := &corev1.Container{Command: tc.command}
			setFlags(container, tc.flags)
			if !slices.Equal(container.Command, tc.want) {
				t.Errorf("the command is %q, want %q", container.Command, tc.want)
			}
			if !slices.Equal(tc.command, before) {
				t.Errorf("the command that was given is now %q", tc.command)
			}
		})
	}
}

func TestAnotherPod(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: []string{"etcd"}}}}}
	one, err := another(pod, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := another(pod, 2)
	if err != nil {
		t.Fatal(err)
	}
	if string(one) == string(two) {
		t.Error("the second one is the same to the kubelet")
	}
	read, err := parsePod(two)
	if err != nil || read.Annotations[instanceAnnotation] != "2" || read.Spec.Containers[0].Name != "etcd" {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestParsePod(t *testing.T) {
	for _, tc := range []struct{ name, raw, want string }{
		{"no container", "spec: {containers: []}", "is not one container with a command"},
		{"two containers", "spec: {containers: [{name: a, command: [a]}, {name: b, command: [b]}]}", "is not one container with a command"},
		{"no command", "spec: {containers: [{name: a}]}", "is not one container with a command"},
		{"unknown key", "spec: {containerz: []}", "containerz"},
		{"no YAML", "{", "yaml"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := parsePod([]byte(tc.raw)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
