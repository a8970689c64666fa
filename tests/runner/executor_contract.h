// What every executor promises (harness/runner/executors/executor.h), as tests over a factory.
// Workers behave as tests/runner/fake_worker.h says.
#pragma once

#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "harness/runner/executors/executor.h"

namespace hyfreedp::runner {

using ExecutorFactory = std::function<std::unique_ptr<Executor>(int slots)>;
struct NamedFactory {
  std::string name;
  ExecutorFactory make;
  // With so many bytes for the jobs under way together. Absent: the executor has no such limit.
  std::function<std::unique_ptr<Executor>(int slots, double memory)> make_bounded = {};
};

inline Job fake_job(const std::string& id, const std::string& behaviour = "finish", int milliseconds = 0,
                    double cost = 1) {
  return {
      .id = id,
      .request = {{"type", "run"}, {"trial", id}, {"behaviour", behaviour}, {"milliseconds", milliseconds}},
      .cost = cost};
}

// Polls until `ends` jobs are over, or much too long.
inline std::vector<Update> poll_until(Executor& executor, std::size_t ends) {
  std::vector<Update> all;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (ends > 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << ends << " jobs did not end";
      break;
    }
    auto updates = executor.poll(std::chrono::milliseconds(50));
    if (!updates) {
      ADD_FAILURE() << updates.error().message;
      break;
    }
    for (auto& update : *updates) {
      if (update.kind == Update::Kind::over) --ends;
      all.push_back(std::move(update));
    }
  }
  return all;
}

inline std::map<std::string, Update> ends_of(const std::vector<Update>& updates) {
  std::map<std::string, Update> ends;
  for (const auto& update : updates) {
    if (update.kind != Update::Kind::over) continue;
    EXPECT_TRUE(ends.emplace(update.job, update).second) << update.job << " ended twice";
  }
  return ends;
}

class ExecutorContract : public ::testing::TestWithParam<NamedFactory> {
 protected:
  std::unique_ptr<Executor> make(int slots) { return GetParam().make(slots); }
};

// What is to be durable before a run begins.
TEST_P(ExecutorContract, BeforeStartIsOverBeforeAWorkerHasTheJob) {
  auto executor = make(1);
  std::vector<std::string> begun;
  const auto noted = [&](Job job) {
    job.before_start = [&begun, id = job.id](json::object&) -> Result<void> {
      begun.push_back(id);
      return {};
    };
    return job;
  };
  executor->submit(noted(fake_job("first")));
  executor->submit(noted(fake_job("second")));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_THAT(begun, ::testing::IsEmpty()) << "in another thread than poll()";
  for (const auto& update : poll_until(*executor, 2)) {
    if (update.kind == Update::Kind::started) {
      EXPECT_THAT(begun, ::testing::Contains(update.job));
    }
  }
  EXPECT_EQ(begun, (std::vector<std::string>{"first", "second"}));
  executor->submit(noted(fake_job("third", "finish", 60000)));
  executor->submit(noted(fake_job("fourth")));
  executor->stop();
  poll_until(*executor, 2);
  EXPECT_EQ(begun.size(), 2U) << "no worker had these";
}

TEST_P(ExecutorContract, ABeforeStartThatFailsStartsNothing) {
  auto executor = make(1);
  auto job = fake_job("job");
  job.before_start = [](json::object&) -> Result<void> { return error("the disk is full"); };
  executor->submit(std::move(job));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  auto updates = executor->poll(std::chrono::milliseconds(50));
  while (updates && std::chrono::steady_clock::now() < deadline) {
    EXPECT_TRUE(updates->empty());
    updates = executor->poll(std::chrono::milliseconds(50));
  }
  ASSERT_FALSE(updates);
  EXPECT_EQ(updates.error().message, "the disk is full");
}

TEST_P(ExecutorContract, EveryJobEndsOnce) {
  auto executor = make(3);
  EXPECT_EQ(executor->slots(), 3);
  for (int i = 0; i < 20; ++i) executor->submit(fake_job("job-" + std::to_string(i), "finish", i % 3));
  const auto ends = ends_of(poll_until(*executor, 20));
  ASSERT_EQ(ends.size(), 20U);
  for (const auto& [job, end] : ends) {
    EXPECT_FALSE(end.failed) << job;
    EXPECT_EQ(end.seconds, 0.5);
  }
  EXPECT_TRUE(executor->poll(std::chrono::milliseconds(100)).value().empty());
}

TEST_P(ExecutorContract, StartThenProgressThenEnd) {
  auto executor = make(1);
  executor->submit(fake_job("a", "progress"));
  const auto updates = poll_until(*executor, 1);
  ASSERT_EQ(updates.size(), 3U);
  EXPECT_EQ(updates[0].kind, Update::Kind::started);
  EXPECT_EQ(updates[1].kind, Update::Kind::progress);
  EXPECT_EQ(updates[1].step, 3);
  EXPECT_EQ(updates[1].steps, 10);
  EXPECT_EQ(updates[1].scalars.at("eta"), 0.5);
  EXPECT_TRUE(std::isnan(updates[1].scalars.at("private_loss")));
  EXPECT_EQ(updates[2].kind, Update::Kind::over);
}

TEST_P(ExecutorContract, APreparationIsAJob) {
  auto executor = make(2);
  const auto job = prepare_job({"synthetic", {{"classes", 3}}});
  executor->submit(job);
  const auto ends = ends_of(poll_until(*executor, 1));
  EXPECT_FALSE(ends.at(job.id).failed);
  EXPECT_EQ(ends.at(job.id).seconds, 0.125);
}

TEST_P(ExecutorContract, APreparationStartsBeforeTrialsThatWait) {
  auto executor = make(1);
  executor->submit(fake_job("first", "finish", 50, 1e9));
  executor->submit(fake_job("second", "finish", 0, 1e9));
  const auto job = prepare_job({"synthetic", {{"classes", 3}}});
  executor->submit(job);
  std::vector<std::string> started;
  for (const auto& update : poll_until(*executor, 3)) {
    if (update.kind == Update::Kind::started) started.push_back(update.job);
  }
  ASSERT_EQ(started.size(), 3U);
  EXPECT_NE(started.back(), job.id);
  EXPECT_EQ(started.back(), "second");
}

TEST_P(ExecutorContract, AFailureKeepsItsReason) {
  auto executor = make(1);
  executor->submit(fake_job("a", "fail"));
  const auto ends = ends_of(poll_until(*executor, 1));
  EXPECT_TRUE(ends.at("a").failed);
  EXPECT_EQ(ends.at("a").failure_kind, "diverged");
  EXPECT_EQ(ends.at("a").message, "The loss became NaN.");
}

// A lost worker costs its own job only.
TEST_P(ExecutorContract, AWorkerThatDiesLosesOneJob) {
  const std::map<std::string, std::pair<std::string, std::string>> expected = {
      {"kill", {kKilled, "signal 9"}},
      {"exit", {kInternal, "exited with status 3"}},
      {"garbage", {kInternal, "not valid JSON"}},
      {"wrong-type", {kInternal, "'seconds' must be a number"}},
      {"endless-line", {kInternal, "signal 9"}},
      {"unknown-type", {kInternal, "greetings"}},
      {"other-trial", {kInternal, "another job"}}};
  for (const auto& [behaviour, wanted] : expected) {
    SCOPED_TRACE(behaviour);
    auto executor = make(2);
    executor->submit(fake_job("victim", behaviour, 20));
    for (int i = 0; i < 6; ++i) executor->submit(fake_job("job-" + std::to_string(i), "finish", 10));
    const auto ends = ends_of(poll_until(*executor, 7));
    ASSERT_EQ(ends.size(), 7U);
    for (const auto& [job, end] : ends) {
      if (job == "victim") continue;
      EXPECT_FALSE(end.failed) << job << ": " << end.message;
    }
    ASSERT_TRUE(ends.at("victim").failed);
    if (behaviour == "endless-line") {
      EXPECT_THAT(ends.at("victim").failure_kind, ::testing::AnyOf(kInternal, kKilled));
      continue;
    }
    EXPECT_EQ(ends.at("victim").failure_kind, wanted.first);
    EXPECT_THAT(ends.at("victim").message, ::testing::HasSubstr(wanted.second));
  }
}

TEST_P(ExecutorContract, LastWordsAreShown) {
  auto executor = make(1);
  executor->submit(fake_job("killed", "kill"));
  executor->submit(fake_job("left", "exit"));
  const auto ends = ends_of(poll_until(*executor, 2));
  EXPECT_THAT(ends.at("killed").message, ::testing::HasSubstr("about to be killed"));
  EXPECT_THAT(ends.at("left").message, ::testing::HasSubstr("out of paper"));
}

TEST_P(ExecutorContract, AnEndAnnouncedTwiceCountsOnce) {
  auto executor = make(1);
  executor->submit(fake_job("a", "twice"));
  EXPECT_FALSE(ends_of(poll_until(*executor, 1)).at("a").failed);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  executor->submit(fake_job("b"));
  const auto ends = ends_of(poll_until(*executor, 1));
  EXPECT_EQ(ends.size(), 1U);
  EXPECT_FALSE(ends.at("b").failed);
}

TEST_P(ExecutorContract, DearestFirstThenInOrder) {
  auto executor = make(1);
  executor->submit(fake_job("first", "finish", 300));
  // The others come while it runs; a slow machine takes its time to start the worker.
  const auto begun = executor->poll(std::chrono::seconds(30));
  ASSERT_TRUE(begun && begun->size() == 1 && begun->front().kind == Update::Kind::started);
  executor->submit(fake_job("cheap", "finish", 0, 1));
  executor->submit(fake_job("dear", "finish", 0, 9));
  executor->submit(fake_job("cheap too", "finish", 0, 1));
  std::vector<std::string> order;
  for (const auto& update : poll_until(*executor, 4)) {
    if (update.kind == Update::Kind::over) order.push_back(update.job);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"first", "dear", "cheap", "cheap too"}));
}

// Started, and not over yet: the largest memory that these needed together.
inline double most_memory(const std::vector<Update>& updates, const std::map<std::string, double>& memory) {
  double now = 0, most = 0;
  for (const auto& update : updates) {
    if (update.kind == Update::Kind::started) now += memory.at(update.job);
    if (update.kind == Update::Kind::over) now -= memory.at(update.job);
    most = std::max(most, now);
  }
  return most;
}

TEST_P(ExecutorContract, JobsThatDoNotFitIntoMemoryTogetherWait) {
  if (!GetParam().make_bounded) GTEST_SKIP() << "it has no limit of memory";
  const auto executor = GetParam().make_bounded(3, 100);
  std::map<std::string, double> memory;
  // The dearest are the largest; "none" and "whole" are of unknown size and larger than the
  // machine.
  for (const auto& [name, bytes] :
       {std::pair{"whole", 250.0}, std::pair{"large", 70.0}, std::pair{"large too", 60.0},
        std::pair{"small", 30.0}, std::pair{"small too", 30.0}, std::pair{"none", 0.0}}) {
    auto job = fake_job(name, "finish", 60, bytes);
    job.memory = memory[name] = bytes;
    executor->submit(std::move(job));
  }
  const auto updates = poll_until(*executor, memory.size());
  for (const auto& [job, end] : ends_of(updates)) EXPECT_FALSE(end.failed) << job << ": " << end.message;
  // What is larger than all runs alone, whatever ran before or beside it.
  memory["whole"] = 100;
  EXPECT_LE(most_memory(updates, memory), 100);
}

TEST_P(ExecutorContract, WhatFitsRunsWhileTheDearestWaits) {
  if (!GetParam().make_bounded) GTEST_SKIP() << "it has no limit of memory";
  const auto executor = GetParam().make_bounded(2, 100);
  std::vector<std::string> started;
  for (const auto& [name, bytes, milliseconds] :
       {std::tuple{"first", 60.0, 1500}, std::tuple{"dearest", 50.0, 0}, std::tuple{"fits", 40.0, 0}}) {
    auto job = fake_job(name, "finish", milliseconds, bytes);
    job.memory = bytes;
    if (name == std::string("first")) job.cost = 1e9;
    executor->submit(std::move(job));
  }
  for (const auto& update : poll_until(*executor, 3)) {
    if (update.kind == Update::Kind::started) started.push_back(update.job);
  }
  EXPECT_EQ(started, (std::vector<std::string>{"first", "fits", "dearest"}));
}

// Told to stop, and gone after that; the next job gets a worker.
TEST_P(ExecutorContract, AJobBeyondItsTimeEndsByItself) {
  auto executor = make(1);
  auto slow = fake_job("slow", "finish", 60000, 9);
  slow.time_limit = std::chrono::milliseconds(300);
  auto quick = fake_job("quick", "finish", 10);
  quick.time_limit = std::chrono::seconds(60);
  executor->submit(std::move(slow));
  executor->submit(std::move(quick));
  const auto ends = ends_of(poll_until(*executor, 2));
  EXPECT_EQ(ends.at("slow").failure_kind, kOverTime);
  EXPECT_THAT(ends.at("slow").message, ::testing::HasSubstr("300 ms"));
  EXPECT_FALSE(ends.at("quick").failed) << ends.at("quick").message;
}

TEST_P(ExecutorContract, CancelEndsOneJobOnly) {
  auto executor = make(1);
  executor->submit(fake_job("running", "finish", 60000, 3));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  executor->submit(fake_job("waiting"));
  executor->submit(fake_job("staying"));
  executor->cancel("waiting");
  executor->cancel("running");
  executor->cancel("unheard of");
  const auto ends = ends_of(poll_until(*executor, 3));
  EXPECT_EQ(ends.at("waiting").failure_kind, kCancelled);
  EXPECT_EQ(ends.at("running").failure_kind, kCancelled);
  EXPECT_FALSE(ends.at("staying").failed);
}

TEST_P(ExecutorContract, StopEndsEverythingAndReturns) {
  auto executor = make(2);
  for (int i = 0; i < 5; ++i) executor->submit(fake_job("job-" + std::to_string(i), "finish", 60000));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto begin = std::chrono::steady_clock::now();
  executor->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  const auto ends = ends_of(executor->poll(std::chrono::milliseconds(0)).value());
  ASSERT_EQ(ends.size(), 5U);
  for (const auto& [job, end] : ends) EXPECT_EQ(end.failure_kind, kCancelled) << job;
}

TEST_P(ExecutorContract, AfterStopNothingStarts) {
  auto executor = make(1);
  executor->stop();
  executor->submit(fake_job("late"));
  EXPECT_EQ(ends_of(poll_until(*executor, 1)).at("late").failure_kind, kCancelled);
}

TEST_P(ExecutorContract, MayBeLeftWithWorkUnderWay) {
  auto executor = make(2);
  for (int i = 0; i < 4; ++i) executor->submit(fake_job("job-" + std::to_string(i), "finish", 60000));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto begin = std::chrono::steady_clock::now();
  executor.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace hyfreedp::runner
