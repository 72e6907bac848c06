// A client of a Kubernetes API as other people write them, with client-go as it is published.
//
//	walk        goes through the verbs, a step after the other, and says what became of each
//	controller  a small controller: leader election, informer, work queue; until it is told to stop
//
// Every line on standard output is one JSON object.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file with the server's address and our credential")
	namespace := flag.String("namespace", "default", "where to work")
	identity := flag.String("identity", "one", "our name among those who want to lead")
	contentType := flag.String("content-type", "", "of what we send; as client-go chooses when empty")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, *kubeconfig, *contentType, *namespace, *identity); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, contentType, namespace, identity string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // the server is what is tested, not the client's patience
	config.ContentType = contentType
	switch flag.Arg(0) {
	case "walk":
		return walk(ctx, config, namespace)
	case "controller":
		return runController(ctx, config, namespace, identity)
	}
	return fmt.Errorf("unknown command %q: walk or controller", flag.Arg(0))
}

var printing sync.Mutex

func say(line map[string]string) {
	printing.Lock()
	defer printing.Unlock()
	_ = json.NewEncoder(os.Stdout).Encode(line)
}
