//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// instanceAnnotation makes a static Pod another one to the kubelet than the
// last of its name, which may have been taken away a moment ago.
const instanceAnnotation = "evenkeel.dev/instance"

func parsePod(raw []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict(raw, pod); err != nil {
		return nil, err
	}
	if len(pod.Spec.Containers) != 1 || len(pod.Spec.Containers[0].Command) == 0 {
		return nil, errors.New("the static Pod is not one container with a command")
	}
	return pod, nil
}

func another(pod *corev1.Pod, count int) ([]byte, error) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[instanceAnnotation] = strconv.Itoa(count)
	return yaml.Marshal(pod)
}

// setFlags replaces flags of a container's command, and adds those that it does
// not have; one without a value is taken away.
func setFlags(container *corev1.Container, flags map[string]string) {
	command := container.Command[:1:1]
	for _, argument := range container.Command[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		if _, replaced := flags[name]; !replaced {
			command = append(command, argument)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if flags[name] != "" {
			command = append(command, "--"+name+"="+flags[name])
		}
	}
	container.Command = command
}

// importImages gives the container runtime of a node the images of an archive.
func (c *kindCluster) importImages(ctx context.Context, m *member, archive string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, importBound, fmt.Errorf("importing images took longer than %s", importBound))
	defer cancel()
	node, err := c.node(m)
	if err != nil {
		return err
	}
	command := node.CommandContext(ctx, "ctr", "--namespace=k8s.io", "images", "import", "--all-platforms", "--digests", "--snapshotter=overlayfs", "-")
	if err := explain(command.SetStdin(file).Run()); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}
