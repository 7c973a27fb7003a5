// Command streams runs commands in a pod and reaches its port with client-go, over WebSockets and over SPDY, and prints one JSON
// result per step and line.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
)

type runner struct {
	config    *rest.Config
	client    *kubernetes.Clientset
	namespace string
	pod       string
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the server")
	namespace := flag.String("namespace", "default", "of the pod")
	pod := flag.String("pod", "", "one with a shell and an HTTP server on port 8080")
	flag.Parse()
	if err := run(*kubeconfig, *namespace, *pod); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, namespace, pod string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	r := &runner{config: config, client: client, namespace: namespace, pod: pod}
	for _, way := range []string{"websocket", "spdy"} {
		report(way+" exec", r.exec(way))
		report(way+" cancel", r.cancel(way))
		report(way+" port-forward", r.forward(way))
	}
	return nil
}

func report(step string, result any) {
	line, _ := json.Marshal(map[string]any{"step": step, "result": result})
	fmt.Println(string(line))
}

func (r *runner) url(subresource string, options any) *url.URL {
	request := r.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(r.namespace).Name(r.pod).SubResource(subresource)
	switch options := options.(type) {
	case *corev1.PodExecOptions:
		request = request.VersionedParams(options, scheme.ParameterCodec)
	}
	return request.URL()
}

func (r *runner) executor(way string, command ...string) (remotecommand.Executor, error) {
	target := r.url("exec", &corev1.PodExecOptions{Command: command, Stdin: true, Stdout: true, Stderr: true})
	if way == "spdy" {
		return remotecommand.NewSPDYExecutor(r.config, "POST", target)
	}
	return remotecommand.NewWebSocketExecutor(r.config, "GET", target.String())
}

func (r *runner) exec(way string) any {
	executor, err := r.executor(way, "/bin/sh", "-c", "cat; echo err >&2; exit 3")
	if err != nil {
		return err.Error()
	}
	input := strings.Repeat("0123456789abcdef", 100000)
	var out, errs bytes.Buffer
	err = executor.StreamWithContext(context.Background(), remotecommand.StreamOptions{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &errs})
	code := 0
	var exit exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitStatus()
	} else if err != nil {
		return err.Error()
	}
	return map[string]any{"whole": out.String() == input, "err": errs.String(), "code": code}
}

// cancel gives up on a command that goes on; it has to end soon, and only it.
func (r *runner) cancel(way string) any {
	executor, err := r.executor(way, "/bin/sh", "-c", "echo begun; exec sleep 10000")
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reader, writer := io.Pipe()
	go func() {
		_, _ = io.ReadAtLeast(reader, make([]byte, 6), 6)
		cancel()
	}()
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: blocked{}, Stdout: writer, Stderr: io.Discard})
	return errors.Is(err, context.Canceled)
}

// blocked is an input on which nothing is typed.
type blocked struct{}

func (blocked) Read([]byte) (int, error) {
	select {}
}

func (r *runner) dialer(way string) (httpstream.Dialer, error) {
	target := r.url("portforward", nil)
	if way == "websocket" {
		return portforward.NewSPDYOverWebsocketDialer(target, r.config)
	}
	transport, upgrader, err := spdy.RoundTripperFor(r.config)
	if err != nil {
		return nil, err
	}
	return spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", target), nil
}

func (r *runner) forward(way string) any {
	dialer, err := r.dialer(way)
	if err != nil {
		return err.Error()
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.New(dialer, []string{"0:8080"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return err.Error()
	}
	done := make(chan error, 1)
	go func() { done <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-done:
		return fmt.Sprint(err)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		return err.Error()
	}
	client := http.Client{Timeout: time.Minute}
	var page string
	for range 3 {
		response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/index.html", ports[0].Local))
		if err != nil {
			return err.Error()
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return err.Error()
		}
		page = string(text)
	}
	close(stop)
	if err := <-done; err != nil {
		return err.Error()
	}
	return page
}
