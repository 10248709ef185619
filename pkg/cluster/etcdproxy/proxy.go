package etcdproxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Proxy hands requests on to one etcd.
type Proxy struct {
	listener net.Listener
	gate     *gate
	server   *grpc.Server
	etcd     *grpc.ClientConn
}

// Config is what a Proxy is made of.
type Config struct {
	// Listener is where clients come to.
	Listener net.Listener
	// Etcd is the address of the etcd, as host and port.
	Etcd string
	// Dial reaches etcd; it may be nil.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Server is the proxy's TLS towards its clients, Client that towards etcd.
	Server, Client *tls.Config
}

// New makes a proxy that carries nothing before Start. It does not need etcd to
// be there.
func New(config Config) (*Proxy, error) {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(credentials.NewTLS(config.Client)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: reconnect, Multiplier: 1, MaxDelay: reconnect},
			MinConnectTimeout: dialBound,
		}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(frames{}), grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)),
	}
	if config.Dial != nil {
		options = append(options, grpc.WithContextDialer(config.Dial))
	}
	etcd, err := grpc.NewClient("passthrough:///"+config.Etcd, options...)
	if err != nil {
		return nil, fmt.Errorf("prepare the way to etcd: %w", err)
	}
	p := &Proxy{listener: config.Listener, gate: newGate(), etcd: etcd}
	p.server = grpc.NewServer(
		grpc.Creds(credentials.NewTLS(config.Server)),
		grpc.ForceServerCodecV2(frames{}),
		grpc.UnknownServiceHandler(p.carry),
		grpc.MaxRecvMsgSize(math.MaxInt32),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingLeast, PermitWithoutStream: true}),
	)
	return p, nil
}

// Start begins to carry what arrives.
func (p *Proxy) Start() { go func() { _ = p.server.Serve(p.listener) }() }

// Address is where the proxy is, as host and port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Stop ends all connections.
func (p *Proxy) Stop() {
	p.gate.set(cluster.KeyFault{})
	p.server.Stop()
	_ = p.etcd.Close()
	_ = p.listener.Close() // also where nothing was started
}

// Set sets what becomes of requests from now on.
func (p *Proxy) Set(fault cluster.KeyFault) { p.gate.set(fault) }

// Stats is what the proxy has done so far.
func (p *Proxy) Stats() cluster.KeyFaultStats {
	return cluster.KeyFaultStats{Passed: p.gate.passed.Load(), Met: p.gate.met.Load()}
}

// carry hands one call on, of whatever kind: each is a stream of frames both
// ways.
func (p *Proxy) carry(_ any, client grpc.ServerStream) error {
	method, ok := grpc.MethodFromServerStream(client)
	if !ok {
		return status.Error(codes.Internal, "the call has no method")
	}
	ctx, cancel := context.WithCancel(client.Context())
	defer cancel()
	if sent, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, sent.Copy())
	}
	first := new(frame)
	request, read := methods[method]
	if read {
		if err := client.RecvMsg(first); err != nil {
			return err
		}
		if err := p.gate.pass(ctx, request, first.payload); err != nil {
			return err
		}
	}
	etcd, err := p.etcd.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	if read {
		if err := etcd.SendMsg(first); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	asked := make(chan error, 1)
	go func() { asked <- toEtcd(client, etcd) }()
	answered := make(chan error, 1)
	go func() { answered <- toClient(etcd, client) }()
	for {
		select {
		case err := <-asked:
			if err != nil {
				return err // the client is gone; cancel ends the other direction
			}
			asked = nil // it has said all that it has to say
		case err := <-answered:
			client.SetTrailer(etcd.Trailer())
			return err
		}
	}
}

func toEtcd(client grpc.ServerStream, etcd grpc.ClientStream) error {
	for {
		one := new(frame)
		if err := client.RecvMsg(one); errors.Is(err, io.EOF) {
			return etcd.CloseSend()
		} else if err != nil {
			return err
		}
		if err := etcd.SendMsg(one); errors.Is(err, io.EOF) {
			return nil // etcd has ended the call; its answer says why
		} else if err != nil {
			return err
		}
	}
}

func toClient(etcd grpc.ClientStream, client grpc.ServerStream) error {
	for sent := false; ; {
		one := new(frame)
		err := etcd.RecvMsg(one)
		if !sent && (err == nil || errors.Is(err, io.EOF)) {
			header, headerErr := etcd.Header()
			if headerErr != nil {
				return headerErr
			}
			if err := client.SendHeader(header); err != nil {
				return err
			}
			sent = true
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := client.SendMsg(one); err != nil {
			return err
		}
	}
}
