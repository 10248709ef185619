//go:build linux

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/agent"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
)

// trialName is what the container of a trial is called in the runtime of a node, which has one
// at a time.
const trialName = "evenkeel-trial"

// TryVersions implements cluster.VersionTrier: the program runs in a container beside the
// static Pod, which the kubelet does not know of.
func (c *kindCluster) TryVersions(ctx context.Context, name, release string) (exit string, log []string, err error) {
	m, ctx, done, err := c.takeUnit(ctx, name, cluster.APIServer)
	if err != nil {
		return "", nil, err
	}
	defer done()
	if _, runs := m.units.Process(cluster.APIServer); !runs {
		return "", nil, fmt.Errorf("cannot try versions at the API server of %s: it does not run, and the program would take its place", name)
	}
	raw, err := c.distribution.pod(c, m, cluster.APIServer, release)
	if err != nil {
		return "", nil, fmt.Errorf("cannot try versions at the API server of %s: %w", name, err)
	}
	pod, err := parsePod(raw)
	if err != nil {
		return "", nil, fmt.Errorf("cannot try versions at the API server of %s: %w", name, err)
	}
	file := filepath.Join(c.logDir, name+"-apiserver-trial.log")
	if exit, err = trial(ctx, m.host, pod, file); err != nil {
		return "", nil, fmt.Errorf("cannot try versions at the API server of %s: %w", name, err)
	}
	return exit, logtail.Lines(file), nil
}

// trial runs a static Pod's program in a container of its own in a node. exit is empty where
// the program had to be ended.
func trial(ctx context.Context, host string, pod *corev1.Pod, file string) (exit string, err error) {
	log, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, privateMode)
	if err != nil {
		return "", fmt.Errorf("cannot write its log: %w", err)
	}
	defer log.Close() // the process has its own descriptor
	bounded, cancel := context.WithTimeout(ctx, trialBound)
	defer cancel()
	command := exec.CommandContext(bounded, engine, trialArguments(host, pod)...)
	command.Stdout, command.Stderr = log, log
	err = command.Run()
	if bounded.Err() != nil {
		// Its program does not end with the command that waits for it.
		_, ending := docker(context.WithoutCancel(ctx), "exec", host, "ctr", "--namespace=k8s.io", "tasks", "delete", "--force", trialName)
		return "", errors.Join(context.Cause(ctx), ending)
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return failed.String(), nil
	}
	if err != nil {
		return "", err
	}
	return "exit status 0", nil
}

// trialArguments have Docker run a static Pod's container in a node, by the node's own runtime.
func trialArguments(host string, pod *corev1.Pod) []string {
	arguments := []string{"exec", host, "ctr", "--namespace=k8s.io", "run", "--rm", "--net-host", "--snapshotter=overlayfs",
		"--env=" + agent.TrialVariable + "=" + agent.TrialValue}
	container := pod.Spec.Containers[0]
	for _, mount := range container.VolumeMounts {
		for _, volume := range pod.Spec.Volumes {
			if volume.Name == mount.Name && volume.HostPath != nil {
				arguments = append(arguments, fmt.Sprintf("--mount=type=bind,src=%s,dst=%s,options=rbind:ro", volume.HostPath.Path, mount.MountPath))
			}
		}
	}
	return append(append(arguments, container.Image, trialName), container.Command...)
}
