package probetest

import (
	"fmt"
	"time"
)

func persistence(b *Behaviour) section {
	load := b.loading()
	lastSave := "ok"
	if b.Misconf {
		lastSave = "err"
	}
	s := section{"Persistence", []string{
		"loading:" + digit(load != nil && !load.Async),
		"async_loading:" + digit(load != nil && load.Async),
		"current_cow_peak:0",
		"current_cow_size:0",
		"current_cow_size_age:0",
		"current_fork_perc:0.00",
		"current_save_keys_processed:0",
		"current_save_keys_total:0",
		"rdb_changes_since_last_save:0",
		"rdb_bgsave_in_progress:0",
		"rdb_last_save_time:1700000000",
		"rdb_last_bgsave_status:" + lastSave,
		"rdb_last_bgsave_time_sec:-1",
		"rdb_current_bgsave_time_sec:-1",
		"rdb_saves:0",
		"rdb_last_cow_size:0",
		"rdb_last_load_keys_expired:0",
		"rdb_last_load_keys_loaded:0",
		"aof_enabled:0", // also while an AOF loads
		"aof_rewrite_in_progress:0",
		"aof_rewrite_scheduled:0",
		"aof_last_rewrite_time_sec:-1",
		"aof_current_rewrite_time_sec:-1",
		"aof_last_bgrewrite_status:ok",
		"aof_rewrites:0",
		"aof_rewrites_consecutive_failures:0",
		"aof_last_write_status:ok",
		"aof_last_cow_size:0",
		"module_fork_in_progress:0",
		"module_fork_last_cow_size:0",
	}}
	if load != nil {
		s.fields = append(s.fields, load.fields(time.Now())...)
	}
	return s
}

// fields returns the INFO fields that a server has only while it loads.
func (l *Loading) fields(now time.Time) []string {
	start, percent, eta := l.Start, l.Percent, l.ETA
	if start.IsZero() {
		start = now.Add(-time.Minute)
	}
	if span := l.End.Sub(start); !l.End.IsZero() && span > 0 {
		percent = 100 * float64(now.Sub(start)) / float64(span)
		eta = l.End.Sub(now)
	}
	total := orElse(l.Total, 1<<30)
	return []string{
		fmt.Sprintf("loading_start_time:%d", start.Unix()),
		fmt.Sprintf("loading_total_bytes:%d", total),
		"loading_rdb_used_mem:0",
		fmt.Sprintf("loading_loaded_bytes:%d", int64(float64(total)*percent/100)),
		fmt.Sprintf("loading_loaded_perc:%.2f", percent),
		fmt.Sprintf("loading_eta_seconds:%d", int(eta.Seconds())),
	}
}
