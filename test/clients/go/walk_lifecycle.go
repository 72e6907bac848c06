package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

var lifecycleSteps = []step{
	{"an object with a finalizer goes when it is taken off", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		made := configMap("held", nil)
		made.Finalizers = []string{"example.com/hold"}
		if _, err := maps.Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := maps.Delete(ctx, "held", metav1.DeleteOptions{}); err != nil {
			return err
		}
		held, err := maps.Get(ctx, "held", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := expectThat("it is marked as deleted", held.DeletionTimestamp != nil); err != nil {
			return err
		}
		held.Finalizers = nil
		if _, err := maps.Update(ctx, held, metav1.UpdateOptions{}); err != nil {
			return err
		}
		return expectThat("it is gone", isNotFound(ctx, w, "held"))
	}},
	{"a dependant goes with its owner", func(ctx context.Context, w *walker) error {
		return dependantAfter(ctx, w, "background", metav1.DeletePropagationBackground)
	}},
	{"in the foreground the owner waits for its dependant", func(ctx context.Context, w *walker) error {
		return dependantAfter(ctx, w, "foreground", metav1.DeletePropagationForeground)
	}},
	{"a namespace takes what is in it along", func(ctx context.Context, w *walker) error {
		name := w.namespace + "-inner"
		namespaces := w.kube.CoreV1().Namespaces()
		if _, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		if _, err := w.kube.CoreV1().ConfigMaps(name).Create(ctx, configMap("inside", nil), metav1.CreateOptions{}); err != nil {
			return err
		}
		seen, err := namespaces.Watch(ctx, named(name))
		if err != nil {
			return err
		}
		if err := namespaces.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		if err := until(ctx, seen, func(event watch.Event) bool { return event.Type == watch.Deleted }); err != nil {
			return err
		}
		left, err := w.kube.CoreV1().ConfigMaps(name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return expect("the number of objects left in it", len(left.Items), 0)
	}},
	{"a namespace has its service account and the CA", func(ctx context.Context, w *walker) error {
		accounts, err := w.kube.CoreV1().ServiceAccounts(w.namespace).Watch(ctx, named("default"))
		if err != nil {
			return err
		}
		maps, err := w.kube.CoreV1().ConfigMaps(w.namespace).Watch(ctx, named("kube-root-ca.crt"))
		if err != nil {
			return err
		}
		isThere := func(event watch.Event) bool { return event.Type == watch.Added }
		return errors.Join(until(ctx, accounts, isThere), until(ctx, maps, isThere))
	}},
	{"the old event recorder's event arrives", func(ctx context.Context, w *walker) error {
		about, err := w.kube.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("talked-about", nil), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		broadcaster := record.NewBroadcaster(record.WithContext(ctx))
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: w.kube.CoreV1().Events(w.namespace)})
		seen, err := w.kube.CoreV1().Events(w.namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=talked-about"})
		if err != nil {
			return err
		}
		broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "walker"}).Event(about, corev1.EventTypeNormal, "Talked", "about it")
		return until(ctx, seen, func(event watch.Event) bool { return event.Object.(*corev1.Event).Reason == "Talked" })
	}},
	{"the new event recorder's event arrives, in both groups", func(ctx context.Context, w *walker) error {
		about, err := w.kube.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("talked-about-anew", nil), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		recording, stop := context.WithCancel(ctx)
		defer stop()
		broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: w.kube.EventsV1()})
		if err := broadcaster.StartRecordingToSinkWithContext(recording); err != nil {
			return err
		}
		defer broadcaster.Shutdown()
		modern, err := w.kube.EventsV1().Events(w.namespace).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		core, err := w.kube.CoreV1().Events(w.namespace).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		broadcaster.NewRecorder(scheme.Scheme, "walker").Eventf(about, nil, corev1.EventTypeNormal, "Anew", "Talk", "about it")
		return errors.Join(
			until(ctx, modern, func(event watch.Event) bool { return event.Object.(*eventsv1.Event).Reason == "Anew" }),
			until(ctx, core, func(event watch.Event) bool { return event.Object.(*corev1.Event).Reason == "Anew" }),
		)
	}},
}

// Makes an owner and its dependant, deletes the owner, and waits until both are gone.
func dependantAfter(ctx context.Context, w *walker, name string, policy metav1.DeletionPropagation) error {
	maps := w.kube.CoreV1().ConfigMaps(w.namespace)
	owner, err := maps.Create(ctx, configMap(name+"-owner", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	blocks := true
	dependant := configMap(name+"-dependant", nil)
	dependant.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &blocks}}
	if dependant, err = maps.Create(ctx, dependant, metav1.CreateOptions{}); err != nil {
		return err
	}
	seen, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: dependant.ResourceVersion})
	if err != nil {
		return err
	}
	if err := maps.Delete(ctx, owner.Name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		return err
	}
	var gone []string
	err = until(ctx, seen, func(event watch.Event) bool {
		if event.Type == watch.Deleted {
			gone = append(gone, event.Object.(*corev1.ConfigMap).Name)
		}
		return len(gone) == 2
	})
	if err != nil {
		return err
	}
	last := map[metav1.DeletionPropagation]string{metav1.DeletePropagationBackground: dependant.Name, metav1.DeletePropagationForeground: owner.Name}
	return expect("the last one to go", gone[1], last[policy])
}
