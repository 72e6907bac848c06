package main

import (
	"context"
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

var watchSteps = []step{
	{"a watch from a list's version misses nothing", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		before, err := maps.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if err := liveAndDie(ctx, w, "watched"); err != nil {
			return err
		}
		events, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: before.ResourceVersion, FieldSelector: "metadata.name=watched"})
		if err != nil {
			return err
		}
		var seen []string
		err = until(ctx, events, func(event watch.Event) bool {
			seen = append(seen, string(event.Type))
			return event.Type == watch.Deleted
		})
		return errors.Join(err, expect("what was seen", strings.Join(seen, " "), "ADDED MODIFIED DELETED"))
	}},
	{"an object that leaves a selection is seen as deleted", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		made := configMap("leaver", nil)
		made.Labels = map[string]string{"in": "yes"}
		made, err := maps.Create(ctx, made, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		events, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "in=yes", ResourceVersion: made.ResourceVersion})
		if err != nil {
			return err
		}
		for _, value := range []string{"no", "yes"} {
			made.Labels["in"] = value
			if made, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		var seen []string
		err = until(ctx, events, func(event watch.Event) bool {
			seen = append(seen, string(event.Type))
			return len(seen) == 2
		})
		return errors.Join(err, expect("what was seen", strings.Join(seen, " "), "DELETED ADDED"))
	}},
	{"a watch ends at its time limit without an error", func(ctx context.Context, w *walker) error {
		limit := int64(1)
		started := time.Now()
		events, err := w.kube.CoreV1().ConfigMaps(w.namespace).Watch(ctx, metav1.ListOptions{TimeoutSeconds: &limit, FieldSelector: "metadata.name=nobody"})
		if err != nil {
			return err
		}
		for event := range events.ResultChan() {
			return errors.New("there was an event: " + string(event.Type))
		}
		return expectThat("it ended after about a second: "+time.Since(started).String(), time.Since(started) > 900*time.Millisecond && time.Since(started) < 10*time.Second)
	}},
	{"a retrying watcher goes on over the ends of its watches", func(ctx context.Context, w *walker) error {
		maps := w.kube.CoreV1().ConfigMaps(w.namespace)
		before, err := maps.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		limit := int64(1)
		source := &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector, options.TimeoutSeconds = "metadata.name=late", &limit
			return maps.Watch(ctx, options)
		}}
		events, err := watchtools.NewRetryWatcherWithContext(ctx, before.ResourceVersion, source)
		if err != nil {
			return err
		}
		timer := time.AfterFunc(1500*time.Millisecond, func() { _ = liveAndDie(ctx, w, "late") })
		defer timer.Stop()
		var seen []string
		err = until(ctx, events, func(event watch.Event) bool {
			if event.Type != watch.Bookmark {
				seen = append(seen, string(event.Type))
			}
			return event.Type == watch.Deleted
		})
		return errors.Join(err, expect("what was seen", strings.Join(seen, " "), "ADDED MODIFIED DELETED"))
	}},
	{"an informer's store is what a list says", func(ctx context.Context, w *walker) error {
		running, cancel := context.WithCancel(ctx)
		defer cancel()
		factory := informers.NewSharedInformerFactoryWithOptions(w.kube, 0, informers.WithNamespace(w.namespace))
		lister := factory.Core().V1().ConfigMaps().Lister()
		_ = factory.Core().V1().ConfigMaps().Informer()
		factory.Start(running.Done())
		factory.WaitForCacheSync(running.Done())
		_, err := lister.ConfigMaps(w.namespace).Get("item-00")
		return err
	}},
	{"an informer of metadata follows changes", func(ctx context.Context, w *walker) error {
		running, cancel := context.WithCancel(ctx)
		defer cancel()
		factory := metadatainformer.NewFilteredSharedInformerFactory(w.metadata, 0, w.namespace, nil)
		informer := factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer()
		deleted := make(chan string, 100)
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(object any) {
			if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
				deleted <- key.Name
			}
		}})
		if err != nil {
			return err
		}
		factory.Start(running.Done())
		factory.WaitForCacheSync(running.Done())
		if err := liveAndDie(ctx, w, "seen-by-metadata"); err != nil {
			return err
		}
		select {
		case name := <-deleted:
			return expect("the name", name, "seen-by-metadata")
		case <-ctx.Done():
			return ctx.Err()
		}
	}},
}

// One creation, one change, one deletion.
func liveAndDie(ctx context.Context, w *walker, name string) error {
	maps := w.kube.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(ctx, configMap(name, map[string]string{"n": "1"}), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Data["n"] = "2"
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return maps.Delete(ctx, name, metav1.DeleteOptions{})
}
