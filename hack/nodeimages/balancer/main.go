// Balancer stands in for the load balancer that kind puts before several
// control-plane members, on machines that cannot pull its image. It takes the
// same command line and follows the same files.
//
//	envoy -c /home/envoy/envoy.yaml
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/utils/clock"
)

func main() {
	bootstrap := flag.String("c", "", "the bootstrap file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *bootstrap, clock.RealClock{}); err != nil {
		fmt.Fprintln(os.Stderr, "balancer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bootstrap string, clk clock.WithTicker) error {
	if bootstrap == "" {
		return fmt.Errorf("no bootstrap file is given: name it with -c")
	}
	from, err := readBootstrap(bootstrap)
	if err != nil {
		return err
	}
	log := func(line string) { fmt.Println(line) }
	ticks := clk.NewTicker(followInterval)
	defer ticks.Stop()
	var now config
	var complaint string
	end := func() {}
	defer func() { end() }()
	for {
		wanted, err := from.read()
		if err == nil && !wanted.equal(now) {
			// The old listener must be gone before the new one can have its port.
			end()
			now, end = config{}, func() {}
			if end, err = start(ctx, wanted, log); err == nil {
				now = wanted
			}
		}
		// A file that is wrong now may be right soon; said once, not five times a second.
		if err != nil && err.Error() != complaint {
			log(err.Error())
		}
		complaint = ""
		if err != nil {
			complaint = err.Error()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C():
		}
	}
}

// start serves a configuration; the function that it returns ends that, and
// returns when the address is free again.
func start(ctx context.Context, c config, log func(string)) (func(), error) {
	if c.listen == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", c.listen)
	if err != nil {
		return func() {}, err
	}
	log(fmt.Sprintf("listening at %s for %v", listener.Addr(), c.backends))
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(ctx, c, listener, log)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}
