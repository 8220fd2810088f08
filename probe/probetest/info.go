package probetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A section of INFO: its title and its fields in order, "name:value".
type section struct {
	title  string
	fields []string
}

// replace gives fields the values that a behaviour wants, and deletes those it
// has found from extra.
func (s *section) replace(values, extra map[string]string) {
	for i, f := range s.fields {
		name, _, _ := strings.Cut(f, ":")
		if v, ok := values[name]; ok {
			s.fields[i] = name + ":" + v
			delete(extra, name)
		}
	}
}

func (s section) String() string {
	text := "# " + s.title + "\r\n"
	for _, f := range s.fields {
		text += f + "\r\n"
	}
	return text
}

// info answers with the sections that were asked for, in the server's order;
// with all of them when none was; with nothing for one that it does not have.
func info(c *conn, b *Behaviour, args []string) string {
	asked := args[1:]
	all := len(asked) == 0 || slices.ContainsFunc(asked, func(a string) bool {
		a = strings.ToLower(a)
		return a == "default" || a == "all" || a == "everything"
	})
	var parts []string
	extra := maps.Clone(b.Info) // what no section has
	for _, s := range c.sections(b) {
		s.replace(b.Info, extra)
		if !all && !slices.ContainsFunc(asked, func(a string) bool { return strings.EqualFold(a, s.title) }) {
			continue
		}
		parts = append(parts, s.String())
	}
	text := strings.Join(parts, "\r\n")
	for _, name := range sortedKeys(extra) {
		text += name + ":" + extra[name] + "\r\n"
	}
	return c.verbatim(text)
}

func (c *conn) sections(b *Behaviour) []section {
	up := time.Since(c.srv.started)
	t := c.srv.Traffic()
	_, port := splitAddr(c.srv.addr)
	server := section{"Server", []string{
		"redis_version:" + b.version(),
		"redis_mode:" + string(b.mode()),
		"os:Linux 6.1.0 x86_64",
		"arch_bits:64",
		"process_id:1",
		"run_id:" + replicationID,
		"tcp_port:" + strconv.Itoa(port),
		fmt.Sprintf("uptime_in_seconds:%d", int(up.Seconds())),
		fmt.Sprintf("uptime_in_days:%d", int(up.Hours())/24),
		"executable:/usr/bin/redis-server",
		"config_file:",
	}}
	clients := section{"Clients", []string{
		fmt.Sprintf("connected_clients:%d", t.Open),
		"cluster_connections:0",
		fmt.Sprintf("maxclients:%d", b.maxClients()),
		"client_recent_max_input_buffer:20480",
		"client_recent_max_output_buffer:0",
		"blocked_clients:0",
		"tracking_clients:0",
		"clients_in_timeout_table:0",
	}}
	stats := section{"Stats", []string{
		fmt.Sprintf("total_connections_received:%d", t.Accepted),
		"rejected_connections:0",
	}}
	if b.mode() == Sentinel {
		return []section{server, clients, stats, {"Sentinel", []string{
			fmt.Sprintf("sentinel_masters:%d", len(b.Masters)),
			"sentinel_tilt:0",
		}}}
	}
	return []section{server, clients, memory(b), persistence(b), stats, replication(b),
		{"Cluster", []string{"cluster_enabled:" + digit(b.mode() == Cluster)}},
		{"Keyspace", nil},
	}
}

func memory(b *Behaviour) section {
	limit := 0
	if b.OOM {
		limit = 1
	}
	return section{"Memory", []string{
		"used_memory:1145384",
		"used_memory_human:1.09M",
		"used_memory_rss:12427264",
		"used_memory_peak:1145384",
		fmt.Sprintf("maxmemory:%d", limit),
		fmt.Sprintf("maxmemory_human:%dB", limit),
		"maxmemory_policy:noeviction",
	}}
}

func replication(b *Behaviour) section {
	var s section
	s.title = "Replication"
	if b.replica() {
		link, age := "up", 1
		if b.MasterDown {
			link, age = "down", -1
		}
		s.fields = append(s.fields,
			"role:slave",
			"master_host:127.0.0.1",
			"master_port:6379",
			"master_link_status:"+link,
			fmt.Sprintf("master_last_io_seconds_ago:%d", age),
			"master_sync_in_progress:"+digit(b.loading() != nil),
			"slave_read_only:1",
		)
	} else {
		s.fields = append(s.fields, "role:master")
	}
	s.fields = append(s.fields, "connected_slaves:0")
	if b.NoReplicas && !b.replica() {
		s.fields = append(s.fields, "min_slaves_good_slaves:0")
	}
	s.fields = append(s.fields, "master_failover_state:no-failover", "master_replid:"+replicationID, "master_repl_offset:0")
	return s
}

func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

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
	total := cmp.Or(l.Total, 1<<30)
	return []string{
		fmt.Sprintf("loading_start_time:%d", start.Unix()),
		fmt.Sprintf("loading_total_bytes:%d", total),
		"loading_rdb_used_mem:0",
		fmt.Sprintf("loading_loaded_bytes:%d", int64(float64(total)*percent/100)),
		fmt.Sprintf("loading_loaded_perc:%.2f", percent),
		fmt.Sprintf("loading_eta_seconds:%d", int(eta.Seconds())),
	}
}
