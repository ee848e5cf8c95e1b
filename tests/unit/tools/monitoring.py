#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""omx_counters as a whole, on a stand-in for the driver (fake_driver.c), and what
monitoring/ has for Prometheus: output, errors, exit statuses, names of metrics."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import openmetrics  # noqa: E402

TOP = os.environ["top_srcdir"]
TOOL = os.path.abspath(os.environ.get("DRIVEN_COUNTERS", "driven_counters"))
RULES = os.path.join(TOP, "monitoring", "omx-alerts.yml")
BOARDS = ("0 eth0 node1:0 02:00:00:00:01:01", '7 e\\"\xff node1:7 02:00:00:00:01:02')


def driver_labels():
    with open(os.path.join(TOP, "driver/observe/counters.h"), encoding="utf-8") as file:
        return re.findall(r'X\(\w+,\s*"([^"]*)"\)', file.read())


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.driver = self.path("driver")
        self.environment = dict(os.environ, FAKE_DRIVER=self.driver)
        self.set_driver({"sent eager": 100, "pages pinned now": 9})

    def path(self, name):
        return os.path.join(self.folder, name)

    def set_driver(self, *readings, boards=BOARDS[:1]):
        """What one reading after the other finds; the last one then remains."""
        lines = []
        for counters in readings:
            lines += ["reading"] + ["board " + board for board in boards]
            for label, values in counters.items():
                values = values if isinstance(values, list) else [values] * len(boards)
                lines.append("counter " + "|".join([label] + [str(value) for value in values]))
        with open(self.driver, "w", encoding="latin-1") as file:
            file.write("\n".join(lines) + "\n")

    def call(self, *words, status=0, stdout=subprocess.PIPE):
        done = subprocess.run([TOOL, *words], env=self.environment, stdout=stdout, timeout=60,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(bool(done.stderr), status != 0, done.stderr)
        return (done.stderr if status else done.stdout or b"").decode("utf-8", "replace")

    def lines(self, *words):
        return [json.loads(line) for line in self.call(*words).splitlines()]


class Values(Case):
    def test_are_printed_as_before(self):
        self.set_driver({"sent eager": 2**64 - 1, "sent hello": 0})
        self.assertEqual(self.call(), "node1:0 (board #0, eth0)\n"
                                      "  0: 18446744073709551615  sent eager\n")
        self.assertIn("  1:              0  sent hello\n", self.call("--verbose"))
        self.assertEqual(json.loads(self.call("--json"))[0]["counters"],
                         {"sent eager": 2**64 - 1})

    def test_last_of_board_and_all_counts(self):
        self.set_driver({"sent eager": 1}, boards=BOARDS)
        for words, boards in (((), 2), (("-b0",), 1), (("-b0", "-a"), 2), (("-a", "-b0"), 1)):
            self.assertEqual(self.call(*words).count("(board #"), boards, words)


class Since(Case):
    def since(self, *words):
        return json.loads(self.call("--since", self.path("state"), "--json", *words))

    def test_difference(self):
        self.assertEqual(self.call("--save", self.path("state")), "")
        self.set_driver({"sent eager": 2**63, "pages pinned now": 4, "sent hello": 0})
        board, = self.since()
        self.assertEqual(board["ifname"], "eth0")
        self.assertIsNone(board["restarted"])
        self.assertGreater(board["seconds"], 0)
        self.assertEqual(board["counters"]["sent eager"]["change"], 2**63 - 100)
        self.assertAlmostEqual(board["counters"]["sent eager"]["per_second"] * board["seconds"]
                               / (2**63 - 100), 1, delta=0.1)
        self.assertEqual(board["counters"]["pages pinned now"], {"value": 4, "change": -5})
        self.assertNotIn("sent hello", board["counters"])
        self.assertIn("sent hello", self.since("--all")[0]["counters"])
        self.assertRegex(self.call("--since", self.path("state")),
                         r"\nin \d+\.\d{3} s since 20.*Z\n.*\n *9223372036854775708 .* "
                         r"sent eager\n +-5 +-  pages pinned now: 4\n$")

    def test_begins_anew_with_save(self):
        state = self.path("state")
        self.call("--save", state)
        for value in 103, 110:
            self.set_driver({"sent eager": value, "pages pinned now": 9})
            board, = json.loads(self.call("--json", "--since", state, "--save", state))
            self.assertEqual(board["counters"]["sent eager"]["change"], value - 100
                             if value == 103 else 7)
        self.assertEqual(self.since()[0]["counters"], {})

    def test_cleared(self):
        self.call("--save", self.path("state"))
        self.set_driver({"sent eager": 99, "sent hello": 1, "pages pinned now": 9})
        board, = self.since()
        self.assertIn("cleared", board["restarted"])
        self.assertIsNone(board["seconds"])
        self.assertEqual(board["counters"], {"sent eager": {"change": 99, "per_second": None},
                                             "sent hello": {"change": 1, "per_second": None}})
        self.assertIn("cleared or the board was attached again since; counted from then on\n",
                      self.call("--since", self.path("state")))

    def test_other_module_and_boot(self):
        self.call("--save", self.path("state"))
        with open(self.path("state"), encoding="utf-8") as file:
            state = json.load(file)
        self.set_driver({"sent eager": 150, "pages pinned now": 9})
        for member, value, word in (("boot", "another", "booted"), ("module", 1, "loaded")):
            if member == "module" and not state["module"]:
                continue    # there is none here
            with open(self.path("state"), "w", encoding="utf-8") as file:
                json.dump({**state, member: value}, file)
            board, = self.since()
            self.assertIn(word, board["restarted"])
            self.assertEqual(board["counters"]["sent eager"]["change"], 150)

    def test_new_board(self):
        self.call("--save", self.path("state"))
        self.set_driver({"sent eager": [100, 5], "pages pinned now": 9},
                        boards=(BOARDS[0], "7 eth7 node1:7 02:00:00:00:01:02"))
        first, second = self.since()
        self.assertEqual(first["counters"], {})
        self.assertIn("attached", second["restarted"])
        self.assertEqual(second["counters"]["sent eager"]["change"], 5)

    def test_all_leaves_the_board(self):
        self.set_driver({"sent eager": 1}, boards=BOARDS)
        self.call("--save", self.path("state"))
        said = self.call("--since", self.path("state"), "-b0", "--all")
        self.assertEqual(said.count("(board #"), 1)


class Interval(Case):
    def test_objects_in_lines(self):
        self.set_driver(*({"sent eager": value, "pages pinned now": 9}
                          for value in (100, 100, 103, 50, 51)))
        lines = self.lines("--json", "--interval", "0.05", "--count", "4")
        for line in lines:
            self.assertEqual(line["board"], 0)
            self.assertRegex(line["time"], r"^20\d\d-.*Z$")
        self.assertEqual([(line["counters"].get("sent eager") or {}).get("change")
                          for line in lines], [None, 3, 50, 1])
        self.assertIn("cleared", lines[2].pop("restarted"))
        self.assertIsNone(lines[2].pop("seconds"))
        self.assertIsNone(lines[2]["counters"]["sent eager"]["per_second"])
        for line in lines[0], lines[1], lines[3]:
            self.assertIsNone(line["restarted"])
            self.assertGreater(line["seconds"], 0)
        self.assertAlmostEqual(lines[1]["counters"]["sent eager"]["per_second"]
                               * lines[1]["seconds"] / 3, 1, delta=0.1)

    def test_text(self):
        said = self.call("--interval", "0.05", "--count", "3").splitlines()
        self.assertEqual(len(said), 4)
        self.assertRegex(said[0], r"^time +board +change +per second +counter$")
        for line in said[1:]:
            self.assertRegex(line, r"^\d\d:\d\d:\d\d  node1:0 +- +-  nothing changed$")
        said = self.call("--interval", "0.05", "--count", "1", "--all").splitlines()
        self.assertRegex(said[1], r" 0 +0  sent eager$")
        self.assertRegex(said[2], r" \+0 +-  pages pinned now: 9$")


class Prometheus(Case):
    def test_all_counters_of_the_driver(self):
        labels = driver_labels()
        self.set_driver({label: [2**64 - 1 - i, 0] for i, label in enumerate(labels)},
                        boards=BOARDS)
        with open(self.path("metrics.prom"), "w", encoding="utf-8") as file:
            file.write("old")
        self.assertEqual(self.call("--prometheus", "--output", self.path("metrics.prom")), "")
        with open(self.path("metrics.prom"), "rb") as file:
            data = file.read()
        self.assertEqual(self.call("--prometheus").encode(), data)
        found = openmetrics.check(data)
        self.assertEqual(len(found.families), len(labels) + 3)
        host = os.uname().nodename
        self.assertEqual(found.samples["omx_sent_hello_total"], [
            ({"board": "0", "interface": "eth0", "host": host}, str(2**64 - 1)),
            ({"board": "7", "interface": 'e\\"?', "host": host}, "0")])
        self.assertEqual(found.families["omx_sent_hello"]["TYPE"], "counter")
        self.assertEqual(found.families["omx_pages_pinned_now"]["TYPE"], "gauge")
        self.assertEqual(found.samples["omx_board_info"][0][0]["mac"], "02:00:00:00:01:01")
        self.assertEqual(sorted(os.listdir(self.folder)), ["driver", "metrics.prom"])

    @unittest.skipUnless(shutil.which("promtool"), "there is no promtool")
    def test_promtool_reads_it(self):
        self.set_driver({label: 1 for label in driver_labels()}, boards=BOARDS)
        done = subprocess.run(["promtool", "check", "metrics"], text=True, check=False,
                              input=self.call("--prometheus"), capture_output=True)
        self.assertNotIn("error while linting", done.stderr)
        self.assertNotEqual(done.returncode, 1, done.stderr)


class Errors(Case):
    def refused(self, word, *words, stdout=subprocess.PIPE):
        said = self.call(*words, status=1, stdout=stdout)
        self.assertTrue(said.startswith(os.path.basename(TOOL) + ": "), said)
        self.assertIn(word, said)
        if "--prometheus" not in words and stdout == subprocess.PIPE:
            self.refused_as_object(word, said, "--json", *words)

    def refused_as_object(self, word, said, *words):
        done = subprocess.run([TOOL, *words], env=self.environment, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, said))
        lines = done.stdout.splitlines()
        if "--save" in words and len(lines) > 1:
            json.loads(done.stdout)     # the result, which was printed before
            return
        said = json.loads(done.stdout)
        self.assertIn(word, said["error"] + (said["advice"] or ""))
        self.assertEqual(len(lines), 1)

    def test_no_device(self):
        del self.environment["FAKE_DRIVER"]
        if os.path.exists("/dev/omx"):
            self.skipTest("there is one")
        self.refused("modprobe omx")
        self.refused("modprobe omx", "--interval", "1")
        self.refused("modprobe omx", "--prometheus")

    def test_no_board(self):
        self.set_driver({"sent eager": 1}, boards=())
        for words in (), ("--interval", "1"), ("--save", self.path("x")), ("--prometheus",):
            self.refused("attach an interface", *words)
        self.assertFalse(os.path.exists(self.path("x")))
        self.refused("no board 3", "-b3")

    def test_no_privilege(self):
        self.refused("CAP_NET_ADMIN", "--clear")

    def test_state(self):
        self.refused("No such file", "--since", self.path("nowhere"))
        self.refused("Is a directory", "--since", self.folder)
        self.refused("was not saved by", "--since", self.driver)
        self.call("--save", self.path("state"))
        with open(self.path("state"), encoding="utf-8") as file:
            text = file.read()
        with open(self.path("state"), "w", encoding="utf-8") as file:
            file.write(text.replace('"sent eager": 100', '"sent eager": "many"'))
        self.refused("was changed after", "--since", self.path("state"))

    def test_arguments_before_the_device(self):
        del self.environment["FAKE_DRIVER"]
        self.refused("No such file", "--since", self.path("nowhere"))

    def test_output(self):
        for words in (), ("--interval", "0.01", "--count", "1"), ("--prometheus",):
            with open("/dev/full", "wb") as full:
                self.refused("No space left", *words, stdout=full)
        self.refused("No such file", "--save", self.path("nowhere/state"))
        os.mkfifo(self.path("pipe"))    # for a device, which root could lose
        self.refused("no regular file", "--prometheus", "--output", self.path("pipe"))
        self.refused("no regular file", "--save", self.path("pipe"))

    def test_full_disk(self):
        """A limit on the size of files stands for it; SIGXFSZ is ignored, so write() fails."""
        with open(self.path("m.prom"), "w", encoding="utf-8") as file:
            file.write("old")
        for words in ("--prometheus", "--output"), ("--save",):
            done = subprocess.run(
                ["sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@" 2>&1 | cat', "sh",
                 TOOL, *words, self.path("m.prom")],
                env=self.environment, capture_output=True, text=True, check=False)
            self.assertIn("m.prom: File too large", done.stdout)
            with open(self.path("m.prom"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")
            self.assertEqual(sorted(os.listdir(self.folder)), ["driver", "m.prom"])

    def test_usage(self):
        state = self.path("state")
        for words in (["--interval", "0"], ["--interval", "x"], ["--interval", "nan"],
                      ["--interval", "1s"], ["--count", "2"], ["--interval", "1", "--count", "0"],
                      ["--interval", "1", "--save", state], ["--interval", "1", "--clear"],
                      ["--clear", "--save", state], ["--prometheus", "--since", state],
                      ["--prometheus", "--json"], ["--output", state], ["word"]):
            self.assertIn("Try `", self.call(*words, status=64), words)


class Checker(unittest.TestCase):
    """openmetrics.py finds what is wrong."""
    HEAD = "# TYPE omx_a counter\n# HELP omx_a a\n"

    def wrong(self, text):
        with self.assertRaises(openmetrics.Wrong, msg=text):
            openmetrics.check(text.encode())

    def test_right(self):
        found = openmetrics.check((self.HEAD + 'omx_a_total{b="\\"\\\\"} 1\n# EOF\n').encode())
        self.assertEqual(found.samples, {"omx_a_total": [({"b": '"\\'}, "1")]})

    def test_wrong(self):
        for text in ("", "omx_a_total 1\n", "omx_a_total 1", "omx_a_total 1 1600000000\n",
                     "omx_a_total -1\n", "omx_a_total 0x1\n", "omx_a_total NaN\n", "omx_a 1\n",
                     "omx_b_total 1\n", "omx_a_total 1\n\n", 'omx_a_total{b="1"\n',
                     'omx_a_total{b="\\x"} 1\n', 'omx_a_total{b="1",b="2"} 1\n',
                     'omx_a_total{b="1",} 1\n', "omx_a_total 1\nomx_a_total 2\n",
                     "omx_a_total 1\n# HELP omx_a b\n", "# EOF\nomx_a_total 1\n"):
            self.wrong(self.HEAD + text)
        for text in ("omx_a_total 1\n", "# TYPE omx_a info\n", "# HELP omx_a a\nomx_a 1\n",
                     "# HELP omx_a a \"b\"\n", self.HEAD + self.HEAD, "# comment\n",
                     self.HEAD + "# TYPE omx_a_total gauge\n",
                     self.HEAD + "# TYPE b gauge\n" + "omx_a_total 1\n"):
            self.wrong(text + "# EOF\n")


def metric_name(label):
    word = re.sub("[^a-z0-9]+", "_", label.lower().replace("'", "")).strip("_")
    return f"omx_{word}_total"


class Rules(unittest.TestCase):
    def setUp(self):
        with open(RULES, encoding="utf-8") as file:
            self.text = file.read()

    def test_metrics_exist(self):
        names = set(map(metric_name, driver_labels()))
        used = set(re.findall(r"\bomx_\w+_total\b", self.text))
        self.assertTrue(used)
        self.assertEqual(used - names, set())

    def test_there_are_three(self):
        self.assertEqual(self.text.count("- alert: "), 3)

    def firing(self, minutes, **grows):
        """The alerts after these minutes, if counters grow by so many in 15 seconds."""
        labels = '{board="0",interface="eth0",host="a"}'
        series = [{"series": metric_name(label) + labels,
                   "values": f"0+{grows.get(label.replace(' ', '_'), 0)}x{4 * minutes}"}
                  for label in driver_labels()]
        names = re.findall(r"- alert: (\w+)", self.text)
        return [name for name in names if not self.passes(
            {"rule_files": [os.path.abspath(RULES)], "evaluation_interval": "1m",
             "tests": [{"interval": "15s", "input_series": series, "alert_rule_test": [
                 {"eval_time": f"{minutes}m", "alertname": name, "exp_alerts": []}]}]})]

    @staticmethod
    def passes(tests):
        """JSON is YAML."""
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            json.dump(tests, file)
            file.flush()
            done = subprocess.run(["promtool", "test", "rules", file.name],
                                  capture_output=True, text=True, check=False)
        if done.returncode and "alertname" not in done.stdout + done.stderr:
            raise AssertionError(done.stdout + done.stderr)
        return not done.returncode

    @unittest.skipUnless(shutil.which("promtool"), "there is no promtool")
    def test_alerts_fire(self):
        subprocess.run(["promtool", "check", "rules", RULES], check=True,
                       stdout=subprocess.DEVNULL)
        timeout, sack = "packet_sent_again_after_a_timeout", "packet_sent_again_after_a_selective_ack"
        pulled, eager = "pull_frame_requested_again", "sent_eager"
        self.assertEqual(self.firing(20), [])
        for grows in ({timeout: 300}, {sack: 300}, {pulled: 300}, {timeout: 150, sack: 150}):
            self.assertEqual(self.firing(20, sent_eager=10000, **grows), ["OmxSentAgain"])
            self.assertEqual(self.firing(8, sent_eager=10000, **grows), [])
            self.assertEqual(self.firing(20, received_pull_response=20000, **grows), [])
        self.assertEqual(self.firing(20, **{timeout: 10, eager: 10}), [])
        for label in ("dropped: out of memory", "dropped: header not readable",
                      "waited, user at the memory limit"):
            self.assertEqual(self.firing(20, **{label.replace(" ", "_"): 20}), ["OmxOutOfMemory"])
            self.assertEqual(self.firing(20, **{label.replace(" ", "_"): 10}), [])
        silent = {"channel_given_up,_peer_silent": 1}
        self.assertEqual(self.firing(5, **silent), ["OmxPeerSilent"])


if __name__ == "__main__":
    unittest.main()
