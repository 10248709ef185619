// Chaosmesh builds Chaos Mesh for the nodes of a test, where its images cannot be pulled: the
// controller and the daemon from the Go module proxy, and what the daemon calls from Debian's
// packages. It writes an image for nodes to import, and a manifest that installs Chaos Mesh on the
// hosts' network.
//
//	go run ./hack/chaosmesh --image FILE --manifest FILE --node NAME --address ADDRESS --server HOST:PORT
//
// Of the daemon's other programs, which are written in Rust or Java, none is there: PodChaos and
// NetworkChaos do without them, IOChaos, HTTPChaos, TimeChaos, StressChaos and JVMChaos do not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const privateMode = 0o600

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	file := flag.String("image", "", "the file to write the image to, for `ctr images import`")
	install := flag.String("manifest", "", "the file to write the manifest to; it holds keys")
	var at place
	flag.StringVar(&at.Node, "node", "", "the node of the controller")
	flag.StringVar(&at.Address, "address", "", "the address of that node, by which API servers reach the controller's webhooks")
	flag.StringVar(&at.server, "server", "", "HOST:PORT by which the controller reaches API servers, such as a load balancer")
	flag.Parse()
	if err := run(ctx, *file, *install, at); err != nil {
		fmt.Fprintln(os.Stderr, "chaosmesh:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file, install string, at place) error {
	if file == "" || install == "" || at.Node == "" || at.Address == "" || at.server == "" {
		return errors.New("name --image, --manifest, --node, --address and --server")
	}
	built, err := build(ctx)
	if err != nil {
		return err
	}
	if err := built.writeImage(ctx, file); err != nil {
		return err
	}
	out, err := built.manifest(at)
	if err != nil {
		return err
	}
	return os.WriteFile(install, out, privateMode)
}
