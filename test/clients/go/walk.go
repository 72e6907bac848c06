package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

const stepTimeout = 30 * time.Second

// What the steps work with: every kind of client that client-go and its sisters offer.
type walker struct {
	kube       kubernetes.Interface
	dynamic    dynamic.Interface
	metadata   metadata.Interface
	extensions apiextensions.Interface
	namespace  string
	widgets    schema.GroupVersionResource
}

type step struct {
	name string
	run  func(context.Context, *walker) error
}

// Every step is taken, whatever became of those before it.
func walk(ctx context.Context, config *rest.Config, namespace string) error {
	// A group of our own, since a definition goes slowly and another walk may follow.
	widgets := schema.GroupVersionResource{Group: namespace + ".example.com", Version: "v1", Resource: "widgets"}
	w := &walker{namespace: namespace, widgets: widgets}
	var errs [4]error
	w.kube, errs[0] = kubernetes.NewForConfig(config)
	w.dynamic, errs[1] = dynamic.NewForConfig(config)
	w.metadata, errs[2] = metadata.NewForConfig(config)
	w.extensions, errs[3] = apiextensions.NewForConfig(config)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	for _, steps := range [][]step{discoverySteps, objectSteps, listSteps, watchSteps, lifecycleSteps, customSteps, accessSteps} {
		for _, s := range steps {
			result := map[string]string{"step": s.name}
			limited, cancel := context.WithTimeout(ctx, stepTimeout)
			if err := s.take(limited, w); err != nil {
				result["error"] = err.Error()
			}
			cancel()
			say(result)
		}
	}
	return nil
}

// An unexpected answer may make a step panic; that is an answer too.
func (s step) take(ctx context.Context, w *walker) (err error) {
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("panic: %v", found)
		}
	}()
	return s.run(ctx, w)
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

// Reads events until one satisfies the condition.
func until(ctx context.Context, events watch.Interface, holds func(watch.Event) bool) error {
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, isOpen := <-events.ResultChan():
			if !isOpen {
				return errors.New("the watch ended too early")
			}
			if event.Type == watch.Error {
				return fmt.Errorf("the watch failed: %v", event.Object)
			}
			if holds(event) {
				return nil
			}
		}
	}
}

func named(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: "metadata.name=" + name}
}

func expect[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v, not %v", what, got, want)
	}
	return nil
}

func expectThat(what string, holds bool) error {
	return expect(what, holds, true)
}
