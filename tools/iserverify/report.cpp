// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace iserverify {

namespace {

const char *to_string(Verdict verdict)
{
	switch (verdict) {
	case Verdict::Passed: return "passed";
	case Verdict::Failed: return "failed";
	default: return "skipped";
	}
}

std::string joined(const std::vector<std::string> &words)
{
	return fmt::format("{}", fmt::join(words, " "));
}

/* For XML and HTML. */
std::string escaped(const std::string &text)
{
	std::string out;

	for (char c : text)
		switch (c) {
		case '&': out += "&amp;"; break;
		case '<': out += "&lt;"; break;
		case '>': out += "&gt;"; break;
		case '"': out += "&quot;"; break;
		default:
			/* XML has no other control characters. */
			out += static_cast<unsigned char>(c) < ' ' && c != '\n' ?
				       '?' : c;
		}
	return out;
}

struct Count {
	unsigned passed = 0;
	unsigned failed = 0;
	unsigned skipped = 0;

	void add(Verdict verdict)
	{
		++(verdict == Verdict::Passed ? passed :
		   verdict == Verdict::Failed ? failed : skipped);
	}
};

/* Counts by chapter of the RFC. */
class Summary {
public:
	void add(const Result &result)
	{
		chapters_[chapter_of(section_of(result.title))]
			.add(result.verdict);
		all_.add(result.verdict);
	}
	const Count &all() const { return all_; }
	/* In the order of the RFC: "10" behind "9", words last. */
	std::vector<std::pair<std::string, Count>> rows() const
	{
		std::vector<std::pair<std::string, Count>> rows(
			chapters_.begin(), chapters_.end());
		const auto number = [](const std::string &chapter) {
			const long n = std::atol(chapter.c_str());

			return n ? n : 1000;
		};

		std::stable_sort(rows.begin(), rows.end(),
				 [&](const auto &a, const auto &b) {
					 return number(a.first) <
						number(b.first);
				 });
		return rows;
	}

private:
	std::map<std::string, Count> chapters_;
	Count all_;
};

/* For a person at a terminal: a line for each check while it goes on. */
class TextReport final : public Report {
public:
	explicit TextReport(std::FILE *to) : to_(to) {}

	void begin(const Subject &subject, std::size_t checks) override
	{
		checks_ = checks;
		fmt::print(to_, "{} at {}, LUN {}: {} checks\n\n",
			   subject.target_name, subject.address, subject.lun,
			   checks);
	}
	void add(const Result &result) override
	{
		fmt::print(to_, "{:>4}/{} {:7} {:14} {:8} {} ({} ms)\n",
			   ++number_, checks_, to_string(result.verdict),
			   joined(result.title.numbers),
			   section_of(result.title), result.title.words,
			   result.milliseconds);
		if (!result.why.empty())
			fmt::print(to_, "          {}\n", result.why);
		std::fflush(to_);
		summary_.add(result);
	}
	void end() override
	{
		fmt::print(to_, "\n{:36} {:>7} {:>7} {:>8}\n",
			   "chapter of RFC 7145", "passed", "failed",
			   "skipped");
		for (const auto &[chapter, count] : summary_.rows())
			print_row(chapter, count);
		print_row("all", summary_.all());
	}

private:
	void print_row(const std::string &name, const Count &count)
	{
		fmt::print(to_, "{:36} {:7} {:7} {:8}\n", name, count.passed,
			   count.failed, count.skipped);
	}

	std::FILE *to_;
	std::size_t checks_ = 0;
	unsigned number_ = 0;
	Summary summary_;
};

class TapReport final : public Report {
public:
	explicit TapReport(std::FILE *to) : to_(to) {}

	void begin(const Subject &, std::size_t checks) override
	{
		fmt::print(to_, "TAP version 13\n1..{}\n", checks);
	}
	void add(const Result &result) override
	{
		std::string title = joined(result.title.numbers);

		title += (title.empty() ? "" : " ") + result.title.words;
		if (!result.why.empty())
			fmt::print(to_, "# {}\n", result.why);
		fmt::print(to_, "{}ok {} - {}{}\n",
			   result.verdict == Verdict::Failed ? "not " : "",
			   ++number_, title,
			   result.verdict == Verdict::Skipped ? " # SKIP" : "");
		std::fflush(to_);
	}
	void end() override {}

private:
	std::FILE *to_;
	unsigned number_ = 0;
};

/* Of forms that are written in one go at the end. */
class CollectingReport : public Report {
public:
	explicit CollectingReport(std::FILE *to) : to_(to) {}

	void begin(const Subject &subject, std::size_t) override
	{
		subject_ = subject;
	}
	void add(const Result &result) override
	{
		results_.push_back(result);
		summary_.add(result);
	}

protected:
	std::FILE *to_;
	Subject subject_;
	std::vector<Result> results_;
	Summary summary_;
};

class JunitReport final : public CollectingReport {
public:
	using CollectingReport::CollectingReport;

	void end() override
	{
		fmt::print(to_, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			   "<testsuite name=\"iserverify\" tests=\"{}\" "
			   "failures=\"{}\" skipped=\"{}\">\n",
			   results_.size(), summary_.all().failed,
			   summary_.all().skipped);
		for (const Result &result : results_)
			print_case(result);
		fmt::print(to_, "</testsuite>\n");
	}

private:
	void print_case(const Result &result)
	{
		fmt::print(to_, "  <testcase classname=\"{}\" name=\"{} {}\" "
			   "time=\"{:.3f}\">",
			   escaped(result.group),
			   escaped(joined(result.title.numbers)),
			   escaped(result.title.words),
			   result.milliseconds / 1000.0);
		if (result.verdict == Verdict::Failed)
			fmt::print(to_, "<failure message=\"{}\"/>",
				   escaped(result.why));
		else if (result.verdict == Verdict::Skipped)
			fmt::print(to_, "<skipped message=\"{}\"/>",
				   escaped(result.why));
		fmt::print(to_, "</testcase>\n");
	}
};

nlohmann::json as_json(const Result &result)
{
	return {
		{"group", result.group},
		{"name", result.name},
		{"requirements", result.title.numbers},
		{"section", section_of(result.title)},
		{"title", result.title.words},
		{"verdict", to_string(result.verdict)},
		{"why", result.why},
		{"milliseconds", result.milliseconds},
	};
}

/* A peer's bytes may be in it, which need not be UTF-8. */
std::string dumped(const nlohmann::json &json, int indent)
{
	return json.dump(indent, ' ', false,
			 nlohmann::json::error_handler_t::replace);
}

class JsonReport final : public CollectingReport {
public:
	using CollectingReport::CollectingReport;

	void end() override
	{
		nlohmann::json report = {
			{"target", subject_.target_name},
			{"address", subject_.address},
			{"lun", subject_.lun},
			{"passed", summary_.all().passed},
			{"failed", summary_.all().failed},
			{"skipped", summary_.all().skipped},
			{"checks", nlohmann::json::array()},
		};

		for (const Result &result : results_)
			report["checks"].push_back(as_json(result));
		fmt::print(to_, "{}\n", dumped(report, 2));
	}
};

/* A line for each check, at once: for who may not live to see the end. */
class JsonLinesReport final : public Report {
public:
	explicit JsonLinesReport(std::FILE *to) : to_(to) {}

	void begin(const Subject &, std::size_t) override {}
	void add(const Result &result) override
	{
		fmt::print(to_, "{}\n", dumped(as_json(result), -1));
		std::fflush(to_);
	}
	void end() override {}

private:
	std::FILE *to_;
};

class HtmlReport final : public CollectingReport {
public:
	using CollectingReport::CollectingReport;

	void end() override
	{
		fmt::print(to_, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n"
			   "<title>iserverify: {0}</title>\n"
			   "<style>body{{font-family:sans-serif}}"
			   "td,th{{padding:.1em .6em;text-align:left}}"
			   ".failed{{background:#fbb}}.skipped{{color:#777}}"
			   "</style>\n<h1>{0}</h1>\n<p>{1}, LUN {2}</p>\n",
			   escaped(subject_.target_name),
			   escaped(subject_.address), subject_.lun);
		print_summary();
		print_checks();
	}

private:
	void print_summary()
	{
		fmt::print(to_, "<table>\n<tr><th>chapter<th>passed<th>failed"
			   "<th>skipped\n");
		for (const auto &[chapter, count] : summary_.rows())
			fmt::print(to_, "<tr><td>{}<td>{}<td>{}<td>{}\n",
				   escaped(chapter), count.passed,
				   count.failed, count.skipped);
		fmt::print(to_, "</table>\n");
	}
	void print_checks()
	{
		fmt::print(to_, "<table>\n<tr><th>verdict<th>requirements"
			   "<th>section<th>check<th>why\n");
		for (const Result &result : results_)
			fmt::print(to_, "<tr class=\"{0}\"><td>{0}<td>{1}"
				   "<td>{2}<td>{3}<td>{4}\n",
				   to_string(result.verdict),
				   escaped(joined(result.title.numbers)),
				   escaped(section_of(result.title)),
				   escaped(result.title.words),
				   escaped(result.why));
		fmt::print(to_, "</table>\n");
	}
};

} // namespace

std::unique_ptr<Report> make_report(const std::string &form, std::FILE *to)
{
	if (form == "text")
		return std::make_unique<TextReport>(to);
	if (form == "tap")
		return std::make_unique<TapReport>(to);
	if (form == "junit")
		return std::make_unique<JunitReport>(to);
	if (form == "json")
		return std::make_unique<JsonReport>(to);
	if (form == "jsonl")
		return std::make_unique<JsonLinesReport>(to);
	if (form == "html")
		return std::make_unique<HtmlReport>(to);
	return nullptr;
}

std::vector<std::string> report_forms()
{
	return {"text", "tap", "junit", "json", "jsonl", "html"};
}

} // namespace iserverify
