// SPDX-License-Identifier: GPL-2.0
/* tools/conformance: the table of Documentation/conformance.md. */
#include "table.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tally.h"

namespace conformance {
namespace {

namespace fs = std::filesystem;

constexpr const char *suite_json = R"({
 "requirements": [
  {"number": "T-002", "section": "3.3", "level": "MUST",
   "chapter": "3 Upper", "title": "status comes apart"},
  {"number": "T-003", "section": "7.3.5", "level": "MUST",
   "chapter": "7 PDUs", "title": "no S bit", "untestable": "not on the wire"},
  {"number": "T-004", "section": "5.1.2", "level": "MUST",
   "chapter": "5 Login", "title": "resources first"},
  {"number": "I-001", "section": "3.3", "level": "MUST",
   "chapter": "3 Upper", "title": ""}],
 "checks": [
  {"name": "reads", "group": "data", "requirements": ["T-002"],
   "section": "3.3", "chapter": "3 Upper", "title": "reads | of all sizes"},
  {"name": "no-data", "group": "data", "requirements": ["T-002"],
   "section": "3.3", "chapter": "3 Upper", "title": "no blocks"},
  {"name": "stages", "group": "login", "requirements": [],
   "section": "", "chapter": "beyond", "title": "stages"}]
})";

/* A folder of its own, with a suite and results in it. */
class Conformance : public testing::Test {
protected:
	Conformance()
	{
		fs::create_directories(root_);
		write(root_ / "suite.json", suite_json);
	}
	~Conformance() override { fs::remove_all(root_); }

	static void write(const fs::path &file, const std::string &text)
	{
		std::ofstream(file) << text;
	}
	Suite suite() const { return read_suite(root_ / "suite.json"); }
	/* @results: of results.jsonl. */
	fs::path folder(const std::string &name, const std::string &description,
			const std::string &results) const
	{
		fs::create_directories(root_ / name);
		write(root_ / name / "run", description);
		write(root_ / name / "results.jsonl", results);
		return root_ / name;
	}
	conformance::Run run(const std::string &name, const std::string &description,
		const std::string &results) const
	{
		return read_run(folder(name, description, results), suite());
	}
	/* What is said about a folder or a suite that is broken. */
	std::string complaint(const std::string &description,
			      const std::string &results) const
	{
		try {
			run("broken", description, results);
		} catch (const BadInput &error) {
			return error.what();
		}
		return "";
	}

private:
	fs::path root_ = fs::path(testing::TempDir()) /
			 ("conformance" + std::to_string(getpid()));
};

constexpr const char *ours = "target=lio_iser\nrdma=rxe\nkernel=6.1\n";
constexpr const char *ours_new = "target=lio_iser\nrdma=rxe\nkernel=6.12\n";
constexpr const char *theirs = "target=ib_isert\nrdma=rxe\nkernel=6.1\n";

constexpr const char *all_pass =
	"{\"name\":\"reads\",\"verdict\":\"passed\",\"why\":\"\"}\n"
	"{\"name\":\"no-data\",\"verdict\":\"passed\",\"why\":\"\"}\n"
	"{\"name\":\"stages\",\"verdict\":\"passed\",\"why\":\"\"}\n";

std::string line_with(const std::string &text, const std::string &part)
{
	std::size_t at = text.find(part);

	if (at == std::string::npos)
		return "";

	const std::size_t begin = text.rfind('\n', at) + 1;

	return text.substr(begin, text.find('\n', at) - begin);
}

TEST_F(Conformance, AllPass)
{
	const std::string table =
		to_markdown(suite(), {run("a", ours, all_pass)});

	EXPECT_EQ(line_with(table, "| lio\\_iser | rxe | 6.1"),
		  "| lio\\_iser | rxe | 6.1 | 3 of 3 | 0 | 0 | 0 | 0 | 0 |");
	EXPECT_EQ(line_with(table, "T-002 | 3.3"),
		  "| T-002 | 3.3 | MUST | status comes apart | yes | "
		  "`reads` `no-data` |");
	EXPECT_EQ(line_with(table, "| `reads` | T-002"),
		  "| `reads` | T-002 | reads \\| of all sizes | yes |");
	EXPECT_NE(table.find("Everything passed."), std::string::npos);
	EXPECT_EQ(line_with(table, "| 3 Upper"), "| 3 Upper | 2 of 2 |");
}

TEST_F(Conformance, RequirementWithoutCheckSaysWhy)
{
	const std::string table =
		to_markdown(suite(), {run("a", ours, all_pass)});

	EXPECT_EQ(line_with(table, "T-003"),
		  "| T-003 | 7.3.5 | MUST | no S bit | - | "
		  "not tested: not on the wire |");
	EXPECT_EQ(line_with(table, "T-004"),
		  "| T-004 | 5.1.2 | MUST | resources first | - | "
		  "no check yet |");
	/* What binds only the initiator is not in it. */
	EXPECT_EQ(table.find("I-001"), std::string::npos);
}

/* One kernel on which a check fails is a "no" for the column. */
TEST_F(Conformance, KernelsShareAColumnAndTheWorstCounts)
{
	const std::string table = to_markdown(
		suite(),
		{run("a", ours, all_pass),
		 run("b", ours_new,
		     "{\"name\":\"reads\",\"verdict\":\"crashed\","
		     "\"why\":\"BUG: at <null>\"}\n"
		     "{\"name\":\"no-data\",\"verdict\":\"passed\"}\n"
		     "{\"name\":\"stages\",\"verdict\":\"skipped\","
		     "\"why\":\"has none\"}\n")});

	EXPECT_EQ(line_with(table, "| `reads` | T-002"),
		  "| `reads` | T-002 | reads \\| of all sizes | "
		  "crashes, 1 of 2 pass |");
	EXPECT_EQ(line_with(table, "| `stages` |"),
		  "| `stages` |  | stages | yes |");
	EXPECT_EQ(line_with(table, "T-002 | 3.3"),
		  "| T-002 | 3.3 | MUST | status comes apart | "
		  "crashes, 3 of 4 pass | `reads` `no-data` |");
	EXPECT_EQ(line_with(table, "| lio\\_iser | rxe | 6.12"),
		  "| lio\\_iser | rxe | 6.12 | 1 of 2 | 0 | 0 | 1 | 1 | 0 |");
	EXPECT_EQ(line_with(table, "- `reads`"),
		  "- `reads`, 6.12: crashes: BUG: at \\<null\\>");
	EXPECT_EQ(line_with(table, "- `stages`"),
		  "- `stages`, 6.12: does not apply: has none");
}

TEST_F(Conformance, TargetsHaveColumnsOfTheirOwn)
{
	const std::string table = to_markdown(
		suite(),
		{run("a", ours, all_pass),
		 run("b", theirs,
		     "{\"name\":\"reads\",\"verdict\":\"hung\","
		     "\"why\":\"no end\"}\n")});

	EXPECT_EQ(line_with(table, "| `reads` | T-002"),
		  "| `reads` | T-002 | reads \\| of all sizes | yes | hangs |");
	EXPECT_EQ(line_with(table, "| `no-data` | T-002"),
		  "| `no-data` | T-002 | no blocks | yes | not run |");
	EXPECT_EQ(line_with(table, "- `reads`"), "- `reads`: hangs: no end");
	EXPECT_EQ(line_with(table, "| ib\\_isert | rxe | 6.1"),
		  "| ib\\_isert | rxe | 6.1 | 0 of 1 | 0 | 1 | 0 | 0 | 2 |");
}

/* A check that is run again counts once. */
TEST_F(Conformance, TheLastLineOfACheckCounts)
{
	const conformance::Run one = run(
		"a", ours, std::string(all_pass) +
		"{\"name\":\"reads\",\"verdict\":\"failed\",\"why\":\"late\"}\n");

	EXPECT_EQ(one.outcome("reads").verdict, Verdict::Failed);
	EXPECT_EQ(one.outcome("reads").evidence, "late");
	EXPECT_EQ(one.outcome("no-data").verdict, Verdict::Passed);
}

TEST_F(Conformance, FactsAndAnEarlyEndAreTold)
{
	const std::string table = to_markdown(
		suite(),
		{run("a", std::string(theirs) +
		     "version=1.0\nguests=7\nfact=a = b\nbroken=no module\n",
		     "")});

	EXPECT_NE(table.find("- ib\\_isert rxe, 6.1: a = b\n"),
		  std::string::npos);
	EXPECT_NE(table.find("- ib\\_isert rxe, 6.1: ended early: no module\n"),
		  std::string::npos);
	EXPECT_EQ(line_with(table, "| ib\\_isert 1.0 |"),
		  "| ib\\_isert 1.0 | rxe | 6.1 | - | 0 | 0 | 0 | 0 | 3 |");
}

TEST_F(Conformance, BrokenResultsAreNamed)
{
	EXPECT_NE(complaint(ours, "{\"name\":\"reads\",\"verd").
			  find("results.jsonl:1: "), std::string::npos);
	EXPECT_NE(complaint(ours, std::string(all_pass) +
			    "{\"name\":\"reads\"}\n").
			  find("results.jsonl:4: "), std::string::npos);
	EXPECT_NE(complaint(ours, "{\"name\":\"raeds\",\"verdict\":\"passed\"}").
			  find("no check raeds"), std::string::npos);
	EXPECT_NE(complaint(ours, "{\"name\":\"reads\",\"verdict\":\"pass\"}").
			  find("no verdict is called pass"), std::string::npos);
	EXPECT_NE(complaint(ours, "{\"name\":7,\"verdict\":\"passed\"}").
			  find("results.jsonl:1: "), std::string::npos);
	EXPECT_NE(complaint(ours, "\n").find("results.jsonl:1: "),
		  std::string::npos);
}

TEST_F(Conformance, BrokenDescriptionsAreNamed)
{
	EXPECT_NE(complaint("target=x\nrdma=rxe\n", all_pass).
			  find("names no target"), std::string::npos);
	EXPECT_NE(complaint(std::string(ours) + "nonsense\n", all_pass).
			  find("unknown line: nonsense"), std::string::npos);
	EXPECT_NE(complaint(std::string(ours) + "guests=many\n", all_pass).
			  find("no count: many"), std::string::npos);
	EXPECT_THROW(read_run("/nowhere", suite()), BadInput);
}

TEST_F(Conformance, BrokenSuitesAreNamed)
{
	const fs::path file = folder("s", ours, "") / "suite.json";

	for (const char *text : {"", "{", "[]", "{\"requirements\":[]}",
				 "{\"requirements\":[],\"checks\":[]}",
				 "{\"requirements\":[{}],\"checks\":[]}"}) {
		write(file, text);
		EXPECT_THROW(read_suite(file), BadInput) << text;
	}
	EXPECT_THROW(read_suite("/nowhere"), BadInput);
	EXPECT_THROW(to_markdown(suite(), {}), BadInput);
}

TEST_F(Conformance, ATableIsComparedWithTheSuite)
{
	using Lines = std::vector<std::string>;
	const std::string table =
		to_markdown(suite(), {run("a", ours, all_pass)});
	Suite other = suite();

	EXPECT_EQ(differences(table, suite()), Lines());
	other.checks[0].name = "writes";
	other.requirements.erase(other.requirements.begin());
	EXPECT_EQ(differences(table, other),
		  Lines({"check writes is missing",
			 "check reads does not exist",
			 "requirement T-002 does not exist"}));
	EXPECT_EQ(differences("", suite()).size(), 8u);
}

TEST(Tally, WordsOfNothing)
{
	Tally tally;

	EXPECT_EQ(tally.in_words(), "n/a");
	EXPECT_EQ(tally.score(), "-");
	tally.add({Verdict::NotApplicable, ""});
	EXPECT_EQ(tally.in_words(), "n/a");
	tally.add({Verdict::NotRun, ""});
	EXPECT_EQ(tally.in_words(), "not run");
	tally.add({Verdict::Passed, ""});
	EXPECT_EQ(tally.in_words(), "not run");
}

} // namespace
} // namespace conformance
