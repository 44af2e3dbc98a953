// corpus: the functions of the two stages that may fail: reading and tokenizing.
// They know neither the pipeline nor the number of slots that call them.
// SPDX-License-Identifier: BSL-1.0
#include "stages.hpp"
#include "tokens.hpp"

#include <stdexcept>  // for std::runtime_error
#include <utility>    // for std::move

namespace corpus {

std::vector<document> read_all(const std::vector<std::string>& paths, std::size_t max_bytes, books& books) {
    std::vector<document> documents;
    for (const std::string& path : paths) {
        try {
            std::string bytes = read_file(path, max_bytes);
            books.bytes += bytes.size();
            documents.push_back(document{path, std::move(bytes)});
        } catch (const file_error& e) {
            books.add_problem(e.what());
        }
        ++books.files;
    }
    return documents;
}

weir::generator<sequence> tokenize(document doc, std::size_t length, std::size_t max_bytes, books* books) {
    std::string text = std::move(doc.bytes);
    if (doc.path.ends_with(".gz")) {
        try {
            text = gunzip(text, max_bytes);
        } catch (const std::runtime_error& e) {
            throw file_error(doc.path, e.what());
        }
    }
    if (looks_binary(text)) {
        ++books->binary;
        co_return;
    }
    tokenizer tokens(text);
    sequence row;
    while (const auto next = tokens.next()) {
        row.push_back(*next);
        if (row.size() < length) continue;
        co_yield std::move(row);
        row = sequence();
    }
    if (!row.empty()) co_yield std::move(row);
}

}  // namespace corpus
