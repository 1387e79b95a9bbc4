#include <algorithm>

#include "ir/loop_nest.h"
#include "ir/nest/loop_nest_names.h"
#include "ir/text/parse_statement.h"

namespace tunec {
namespace {

constexpr int kDeepest = 200;

class Parser {
 public:
  explicit Parser(Lexer& lexer) : lexer_(lexer) {
    variables_ = [this](const std::string& name) -> std::optional<VarId> {
      for (const VarId v : scope_) {
        if (nest_.variables[v] == name) return v;
      }
      return std::nullopt;
    };
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  Result<LoopNest> Run() {
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("nest"));
    TUNEC_ASSIGN(nest_.name, lexer_.ExpectName("the name of the nest"));
    nest_.contraction = lexer_.TryTake("separate") ? Contraction::kSeparate : Contraction::kFused;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("{"));
    TUNEC_ASSIGN(nest_.tensors, ParseTensors(lexer_));
    while (!lexer_.TryTake("}")) {
      if (!lexer_.TryTake("phase")) return lexer_.Expected("'phase', a tensor's role or '}'");
      Phase phase;
      TUNEC_ASSIGN(phase.name, lexer_.ExpectName("the phase's name"));
      TUNEC_ASSIGN(phase.body, ParseBody());
      nest_.phases.push_back(std::move(phase));
    }
    if (!lexer_.IsAtEnd()) return lexer_.Expected("the end of the text");
    return std::move(nest_);
  }

 private:
  Result<Body> ParseBody() {
    if (++depth_ > kDeepest) {
      return FailAt(lexer_.Here(), ErrorCode::kParse, "blocks nested more than {} deep", kDeepest);
    }
    Body body;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.TryTake("}")) {
      if (lexer_.IsAtEnd()) return lexer_.Expected("'}'");
      TUNEC_ASSIGN(NestNode node, ParseNode());
      body.push_back(std::move(node));
    }
    --depth_;
    return body;
  }

  // Parses a node. The first word decides its kind, so the name of a statement must be quoted if it
  // is one of the words below.
  Result<NestNode> ParseNode() {
    const std::string_view word =
        lexer_.Peek().kind == TokenKind::kIdentifier ? lexer_.Peek().text : "";
    if (word == "for" || FindWord<LoopKind>(kLoopKindNames, word)) return ParseLoop();
    if (word == "if") return ParseIf();
    if (word == "alloc") return ParseAlloc();
    if (word == "prefetch") return ParsePrefetch();
    if (word == "async_copy") return ParseAsyncCopy();
    if (word == "arrive") return ParseArrive();
    if (word == "wait") return ParseWait();
    if (word == "barrier") return ParseBarrier();
    if (word == "shuffle") return ParseShuffle();
    if (word == "roles") return ParseRoles();
    if (word == "tile") return ParseTile();
    return ParseStore();
  }

  ExprParser Exprs() { return ExprParser(lexer_, nest_.tensors, variables_); }

  Result<IndexExpr> ParseIndex() { return Exprs().ParseIndex(); }

  Result<int> ParseCount(std::string_view what) {
    const Token at = lexer_.Peek();
    TUNEC_ASSIGN(const int64_t value, lexer_.ExpectInteger(what));
    if (value >= 0 && value <= 1 << 20) return static_cast<int>(value);
    return FailAt(lexer_.LocationOf(at), ErrorCode::kParse, "{} is {}, expected 0 to {}", what,
                  value, 1 << 20);
  }

  Result<std::vector<IndexExpr>> ParseBound(std::string_view op) {
    std::vector<IndexExpr> bounds;
    const bool several = lexer_.TryTake(op);
    if (several) TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
    do {
      TUNEC_ASSIGN(IndexExpr bound, ParseIndex());
      bounds.push_back(std::move(bound));
    } while (several && lexer_.TryTake(","));
    if (several) TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    return bounds;
  }

  VarId Declare(const std::string& name) {
    const auto found = std::ranges::find(nest_.variables, name);
    if (found != nest_.variables.end()) {
      return nest_.variables.id_of(found);
    }
    return nest_.variables.push_back(name);
  }

  Result<NestNode> ParseLoop() {
    Loop loop;
    if (!lexer_.At("for")) {
      loop.kind = *FindWord<LoopKind>(kLoopKindNames, lexer_.Next().text);
    }
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("for"));
    const Token at = lexer_.Peek();
    TUNEC_ASSIGN(const std::string name, lexer_.ExpectName("a loop variable"));
    if (variables_(name)) {
      return FailAt(lexer_.LocationOf(at), ErrorCode::kParse,
                    "a loop around this one has the variable {} too", name);
    }
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("in"));
    TUNEC_ASSIGN(loop.lower, ParseBound("max"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(".."));
    TUNEC_ASSIGN(loop.upper, ParseBound("min"));
    if (lexer_.TryTake("unroll")) {
      TUNEC_ASSIGN(loop.unroll, ParseCount("the number of unrolled iterations"));
    }
    loop.var = Declare(name);
    scope_.push_back(loop.var);
    TUNEC_ASSIGN(loop.body, ParseBody());
    scope_.pop_back();
    return NestNode{std::move(loop)};
  }

  Result<NestNode> ParseIf() {
    If branch;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("if"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
    TUNEC_ASSIGN(branch.nonnegative, Exprs().ParseConditions(")"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    TUNEC_ASSIGN(branch.body, ParseBody());
    return NestNode{std::move(branch)};
  }

  Result<NestNode> ParseAlloc() {
    Alloc alloc;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("alloc"));
    TUNEC_ASSIGN(alloc.tensor, Exprs().ParseTensorName());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(":"));
    const auto scope = FindWord<Scope>(kScopeNames, lexer_.Peek().text);
    if (!scope) return lexer_.Expected("a scope: global, packed, shared, register, tile, fragment");
    lexer_.Next();
    alloc.scope = *scope;
    alloc.per_thread = lexer_.TryTake("per_thread");
    if (lexer_.TryTake("stages")) {
      TUNEC_ASSIGN(alloc.stages, ParseCount("the number of stages"));
    }
    if (lexer_.TryTake("swizzle")) {
      TUNEC_ASSIGN(alloc.swizzle.chunks, ParseCount("the number of chunks"));
      TUNEC_RETURN_IF_ERROR(lexer_.Expect("of"));
      TUNEC_ASSIGN(alloc.swizzle.row_bytes, ParseCount("the bytes of a row"));
    }
    TUNEC_ASSIGN(alloc.body, ParseBody());
    return NestNode{std::move(alloc)};
  }

  Result<NestNode> ParsePrefetch() {
    Prefetch prefetch;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("prefetch"));
    TUNEC_ASSIGN(prefetch.address, Exprs().ParseWrite());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("level"));
    TUNEC_ASSIGN(prefetch.level, ParseCount("the cache level"));
    prefetch.for_write = lexer_.TryTake("write");
    return NestNode{std::move(prefetch)};
  }

  Result<NestNode> ParseAsyncCopy() {
    AsyncCopy copy;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("async_copy"));
    TUNEC_ASSIGN(copy.token, ParseCount("the token"));
    TUNEC_ASSIGN(copy.from, Exprs().ParseRead());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("->"));
    TUNEC_ASSIGN(copy.to, Exprs().ParseWrite());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("extent"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("["));
    while (!lexer_.TryTake("]")) {
      if (!copy.extent.empty()) TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
      TUNEC_ASSIGN(const int extent, ParseCount("the extent"));
      copy.extent.push_back(extent);
    }
    return NestNode{std::move(copy)};
  }

  Result<NestNode> ParseArrive() {
    Arrive arrive;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("arrive"));
    TUNEC_ASSIGN(arrive.token, ParseCount("the token"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("stage"));
    TUNEC_ASSIGN(arrive.stage, ParseIndex());
    return NestNode{std::move(arrive)};
  }

  Result<NestNode> ParseWait() {
    Wait wait;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("wait"));
    TUNEC_ASSIGN(wait.token, ParseCount("the token"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("stage"));
    TUNEC_ASSIGN(wait.stage, ParseIndex());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("parity"));
    TUNEC_ASSIGN(wait.parity, ParseIndex());
    return NestNode{std::move(wait)};
  }

  Result<NestNode> ParseBarrier() {
    lexer_.Next();
    return NestNode{Barrier{}};
  }

  Result<NestNode> ParseShuffle() {
    Shuffle shuffle;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("shuffle"));
    TUNEC_ASSIGN(shuffle.to, Exprs().ParseWrite());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("="));
    TUNEC_ASSIGN(shuffle.from, Exprs().ParseRead());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("of"));
    const Token at = lexer_.Peek();
    TUNEC_ASSIGN(const std::string name, lexer_.ExpectName("the variable of the thread's number"));
    const std::optional<VarId> thread = variables_(name);
    if (!thread) {
      return FailAt(lexer_.LocationOf(at), ErrorCode::kParse, "no loop around it is called {}",
                    name);
    }
    shuffle.thread = *thread;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("xor"));
    TUNEC_ASSIGN(shuffle.distance, ParseCount("the distance of the threads"));
    return NestNode{std::move(shuffle)};
  }

  Result<NestNode> ParseRoles() {
    Roles roles;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("roles"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.TryTake("}")) {
      Role role;
      TUNEC_RETURN_IF_ERROR(lexer_.Expect("role"));
      TUNEC_ASSIGN(role.name, lexer_.ExpectName("the role's name"));
      TUNEC_RETURN_IF_ERROR(lexer_.Expect("threads"));
      TUNEC_ASSIGN(role.threads, ParseCount("the number of threads"));
      TUNEC_RETURN_IF_ERROR(lexer_.Expect("registers"));
      TUNEC_ASSIGN(role.registers, ParseCount("the number of registers"));
      TUNEC_ASSIGN(role.body, ParseBody());
      roles.roles.push_back(std::move(role));
    }
    return NestNode{std::move(roles)};
  }

  Result<NestNode> ParseTile() {
    Tile tile;
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("tile"));
    TUNEC_ASSIGN(tile.intrinsic, lexer_.ExpectName("the intrinsic's name"));
    TUNEC_ASSIGN(tile.body, ParseBody());
    return NestNode{std::move(tile)};
  }

  // Parses a store, such as `S: C[i] = ...`. Braces may surround its lines, as in `S: { ... }`.
  Result<NestNode> ParseStore() {
    Store store;
    TUNEC_ASSIGN(store.statement,
                 lexer_.ExpectName("a loop, a store as in 'S: C[i] = 0.0', or '}'"));
    store.non_temporal = lexer_.TryTake("non_temporal");
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(":"));
    const bool braced = lexer_.TryTake("{");
    TUNEC_ASSIGN(ParsedAssignment assignment, ParseAssignment(lexer_, nest_.tensors, variables_));
    if (braced) TUNEC_RETURN_IF_ERROR(lexer_.Expect("}"));
    if (!lexer_.Peek().starts_line) return lexer_.Expected("the end of the line");
    store.reads = std::move(assignment.reads);
    store.writes = std::move(assignment.writes);
    store.values = std::move(assignment.values);
    store.reducer = std::move(assignment.reducer);
    return NestNode{std::move(store)};
  }

  Lexer& lexer_;
  LoopNest nest_;
  ExprParser::Variables variables_;
  std::vector<VarId> scope_;
  int depth_ = 0;
};

}  // namespace

Result<LoopNest> ParseLoopNest(std::string_view text, std::string_view file_name) {
  TUNEC_ASSIGN(Lexer lexer, Lexer::Create(text, file_name));
  return Parser(lexer).Run();
}

}  // namespace tunec
